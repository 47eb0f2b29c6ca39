import { expect, test } from "bun:test";
import { joinEntry } from "#core/index.ts";
import { intentOf, refusalOf, settlementOf } from "../../../test/ledger/history.ts";
import { encodeIntent, encodeRefusal, encodeSettlement, objectsPlace } from "../journal/journal-record.ts";
import { entryOfValues, valuesOf } from "../ledger/ledger-columns.ts";
import { objectRows, objectRowsOf } from "../ledger/upstream-objects.ts";
import { drainedValues, type RecordRow } from "./drain.ts";

const row = (json: string) => JSON.parse(json) as RecordRow;

const pairs = [
  [intentOf(1), settlementOf(1)],
  [intentOf(2, { tags: {}, stream: false, retryIndex: 3, startedAfterMs: 0, priceVersion: null }), settlementOf(2)],
  [intentOf(3, { personId: "usr_ada", operation: "GET /files/{id}", tags: { team: 'ä"' } }), settlementOf(3)],
  [intentOf(4), { ...settlementOf(4), warnings: ["seed was left out"], errorCode: "upstream_error", rawUsage: null }],
] as const;

test("what the drain makes of two records is what the store makes of their entry", () => {
  for (const [intent, settlement] of pairs) {
    const drained = drainedValues(row(encodeIntent(intent)), row(encodeSettlement(settlement)));
    expect(drained).toEqual(valuesOf(joinEntry(intent, settlement)));
    expect(entryOfValues(drained)).toEqual(joinEntry(intent, settlement));
  }
});

test("the objects that an upstream keeps come with the entry that made them", () => {
  const objects = [{ id: "resp_1", kind: "response", inputTokens: 12, expiresAt: 99 }] as const;
  const intent = intentOf(8, { personId: "usr_ada" });
  const settlement = { ...settlementOf(8), objects };
  const [read, end] = [row(encodeIntent(intent)), row(encodeSettlement(settlement))];
  const made = objectRows(drainedValues(read, end), end[objectsPlace] as typeof objects);
  expect(made).toEqual(objectRowsOf([joinEntry(intent, settlement)]));
  expect(made[0]).toMatchObject({
    id: "resp_1",
    workspace_id: intent.workspaceId,
    person_id: "usr_ada",
    input_tokens: 12,
  });
});

test("a refusal says how many calls it stands for", () => {
  for (const refused of [refusalOf(5), { ...refusalOf(6), calls: 7 }]) {
    const [intent, settlement, calls] = row(encodeRefusal(refused)) as [RecordRow, RecordRow, number?];
    expect(drainedValues(intent, settlement, calls)).toEqual(valuesOf(refused));
  }
});

test("records of the version before, which lack the newest members, leave the newest columns empty", () => {
  const intent = row(encodeIntent(intentOf(7, { personId: "usr_ada" }))).slice(0, -1);
  const settlement = row(encodeSettlement({ ...settlementOf(7), servedModel: "gpt-5-mini" })).slice(0, -1);
  (settlement as unknown[])[5] = (settlement[5] as number[]).slice(0, -1);
  const { usage, ...entry } = entryOfValues(drainedValues(intent, settlement));
  expect(entry.personId).toBeUndefined();
  expect(entry.servedModel).toBeUndefined();
  expect(usage).toEqual({ ...settlementOf(7).usage, unexplained: 0 });
});
