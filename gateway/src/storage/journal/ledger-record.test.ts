import { expect, test } from "bun:test";
import { joinEntry } from "#core/index.ts";
import { intentOf, refusalOf, settlementOf } from "../../../test/ledger/history.ts";
import { objectRowsOf } from "../ledger/upstream-objects.ts";
import { attemptIdIn, encodeIntent, encodeRefusal, encodeSettlement, entryOfRecord } from "./journal-record.ts";
import { recordMaker } from "./record-text.ts";

const pairs = [
  [intentOf(1), settlementOf(1)],
  [intentOf(2, { tags: {}, stream: false, retryIndex: 3, startedAfterMs: 0, priceVersion: null }), settlementOf(2)],
  [intentOf(3, { personId: "usr_ada", operation: "GET /files/{id}", tags: { team: 'ä"' } }), settlementOf(3)],
  [intentOf(4), { ...settlementOf(4), warnings: ["seed was left out"], errorCode: "upstream_error", rawUsage: null }],
  [intentOf(5, { counted: { audioSeconds: 8 } }), settlementOf(5)],
] as const;

test("joins an intent and its settlement into a ledger record", () => {
  for (const [intent, settlement] of pairs) {
    const json = `[${encodeIntent(intent)},${encodeSettlement(settlement)}]`;
    expect(entryOfRecord(json)).toEqual(joinEntry(intent, settlement));
    expect(entryOfRecord(encodeRefusal(joinEntry(intent, settlement)))).toEqual(joinEntry(intent, settlement));
  }
});

test("returns the objects that an attempt created at its upstream", () => {
  const objects = [{ id: "resp_1", kind: "response", inputTokens: 12, expiresAt: 99 }] as const;
  const intent = intentOf(8, { personId: "usr_ada" });
  const made = objectRowsOf([recordMaker()(joinEntry(intent, { ...settlementOf(8), objects }))]);
  expect(made).toMatchObject([
    {
      id: "resp_1",
      workspace_id: intent.workspaceId,
      person_id: "usr_ada",
      input_tokens: 12,
      created_at: settlementOf(8).endedAt,
    },
  ]);
});

test("stores the number of calls of a refusal", () => {
  for (const refused of [refusalOf(5), { ...refusalOf(6), calls: 7 }]) {
    expect(entryOfRecord(encodeRefusal(refused))).toEqual(refused);
  }
});

test("omits the newest members of records of the previous version", () => {
  const intent = JSON.parse(encodeIntent(intentOf(7, { personId: "usr_ada" }))).slice(0, -1);
  const settlement = JSON.parse(encodeSettlement({ ...settlementOf(7), servedModel: "gpt-5-mini" })).slice(0, -1);
  const { usage, ...entry } = entryOfRecord(JSON.stringify([intent, settlement]));
  expect(entry.personId).toBeUndefined();
  expect(entry.servedModel).toBeUndefined();
  expect(usage).toEqual(settlementOf(7).usage);
});

test("reads an attempt id with any characters from the start of a record", () => {
  for (const attemptId of ["att_1", 'att_"1', "att_\\", "att_ü🚲"]) {
    expect(attemptIdIn(encodeIntent(intentOf(1, { attemptId })))).toBe(attemptId);
    expect(attemptIdIn(encodeSettlement({ ...settlementOf(1), attemptId }))).toBe(attemptId);
  }
});
