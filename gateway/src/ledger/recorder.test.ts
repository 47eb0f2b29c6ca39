import { beforeEach, expect, test } from "bun:test";
import {
  bounds,
  type Checkpoint,
  Failure,
  type Intent,
  type LedgerEntry,
  noUsage,
  openEntry,
  type PriceVersion,
  pricePerCall,
  type Settlement,
  usualTerms,
  variantNamed,
} from "#core/index.ts";
import { createIds } from "#system/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { intentOf } from "../../test/ledger/history.ts";
import { checkpointEvents, checkpointMs } from "./attempt.ts";
import { type AttemptEnd, createRecorder, type Reached } from "./index.ts";

const price: PriceVersion = {
  id: "prc_7",
  model: "gpt-5",
  table: { inputUncached: 1_250_000, output: 10_000_000 },
  effectiveFrom: 0,
};
const pricing = { price, terms: usualTerms };
const fields = { ...openEntry(), ...intentOf(1, { priceVersion: null }) };
const usage = { ...noUsage, inputUncached: 100, output: 20, reasoning: 15 };
const end: AttemptEnd = {
  outcome: "succeeded",
  httpStatus: 200,
  errorCode: null,
  usage,
  usageSource: "upstream",
  rawUsage: null,
  firstByteMs: 12,
  firstTokenMs: null,
  upstreamMs: 40,
  overheadMs: 0.4,
  upstreamStatus: 200,
  upstreamId: null,
};

/** Calls to the journal and the observer, in order. */
function open(refuses = false) {
  const clock = new FakeClock();
  const written: (Intent | Checkpoint | Settlement | LedgerEntry)[] = [];
  const seen: LedgerEntry[] = [];
  const logged: string[] = [];
  const folded: (readonly [requestId: string, countedIn: string])[] = [];
  const recorder = createRecorder({
    clock,
    ids: createIds(clock),
    journal: {
      intent(intent) {
        if (refuses) throw new Failure("ledger_unavailable", "The disk is full.");
        written.push(intent);
      },
      checkpoint: (checkpoint) => void written.push(checkpoint),
      flush: () => true,
      settle: (settlement) => void written.push(settlement),
      refuse: (entry) => void written.push(entry),
    },
    observer: { attemptEnd: (entry) => void seen.push(entry), log: (level) => void logged.push(level) },
    onFolded: ({ entry, countedIn }) => void folded.push([entry.requestId, countedIn]),
  });
  return { recorder, clock, written, seen, logged, folded };
}

let dependencies: ReturnType<typeof open>;
beforeEach(() => {
  dependencies = open();
});

test("writes the intent first and charges usage at its price version", () => {
  const { recorder, clock, written, seen } = dependencies;
  const attempt = recorder.begin({ ...fields }, pricing);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatchObject({ attemptId: attempt.attemptId, priceVersion: "prc_7", at: clock.now() });
  clock.advance(250);
  const entry = attempt.settle(end);
  expect(entry).toMatchObject({ costNanoUsd: 100 * 1_250 + 20 * 10_000, totalMs: 250, endedAt: entry.at + 250, usage });
  expect(written).toHaveLength(2);
  expect(seen).toEqual([entry]);
});

test("charges nothing and names no version without a price", () => {
  const entry = dependencies.recorder
    .begin({ ...fields, priceVersion: "prc_old" }, { price: null, terms: usualTerms })
    .settle(end);
  expect(entry).toMatchObject({ costNanoUsd: 0, priceVersion: null });
});

test("throws ledger_unavailable when the journal cannot be written", () => {
  const { recorder, seen } = open(true);
  expect(() => recorder.begin({ ...fields }, pricing)).toThrow(Failure);
  expect(seen).toEqual([]);
});

test("ignores and logs a second settlement", () => {
  const { recorder, written, seen, logged } = dependencies;
  const attempt = recorder.begin({ ...fields }, pricing);
  const first = attempt.settle(end);
  const second = attempt.settle({ ...end, outcome: "failed", usage: noUsage });
  attempt.checkpoint({ usage, usageSource: "estimated", firstByteMs: 1, firstTokenMs: 1, upstreamId: null });
  expect(second).toBe(first);
  expect(written).toHaveLength(2);
  expect(seen).toHaveLength(1);
  expect(logged).toEqual(["error"]);
});

test("makes a checkpoint due every 64 events or after a second", () => {
  const { recorder, clock, written } = dependencies;
  const attempt = recorder.begin({ ...fields }, pricing);
  let checkpoints = 0;
  const pass = (): void => {
    if (!attempt.countEvents(1, clock.monotonic())) return;
    checkpoints += 1;
    attempt.checkpoint({
      usage: { ...usage, output: checkpoints },
      usageSource: "estimated",
      firstByteMs: 5,
      firstTokenMs: 6,
      upstreamId: null,
    });
  };
  for (let event = 0; event < checkpointEvents * 3 + 5; event++) pass();
  expect(checkpoints).toBe(3);
  clock.advance(checkpointMs - 1);
  pass();
  expect(checkpoints).toBe(3);
  clock.advance(1);
  pass();
  expect(checkpoints).toBe(4);
  expect(written).toHaveLength(5);
  expect(written.at(-1)).toMatchObject({ attemptId: attempt.attemptId, usage: { output: 4 }, at: clock.now() });
});

test("normalizes invalid counts and durations", () => {
  const entry = dependencies.recorder.begin({ ...fields }, pricing).settle({
    ...end,
    usage: { ...noUsage, inputUncached: -3, output: 1.5, cacheRead: Number.NaN, images: Number.POSITIVE_INFINITY },
    firstByteMs: Number.NaN,
    upstreamMs: -1,
  });
  const { inputUncached, output, cacheRead, images } = entry.usage;
  expect({ inputUncached, output, cacheRead }).toEqual({ inputUncached: 0, output: 2, cacheRead: 0 });
  expect(images).toBe(bounds.usageCountMax);
  expect(entry).toMatchObject({ costNanoUsd: 20_000, firstByteMs: null, upstreamMs: null });
});

test("bounds a negative 64-bit count so that sums fit the database", () => {
  const usage = { ...noUsage, output: 2 ** 64 - 1, inputUncached: 2 ** 53 - 1 };
  const entry = dependencies.recorder.begin({ ...fields }, pricing).settle({ ...end, usage });
  expect(entry.usage).toMatchObject({ output: bounds.usageCountMax, inputUncached: bounds.usageCountMax });
  // The sum of a million such calls fits into eight bytes.
  expect(Math.max(entry.usage.output, entry.costNanoUsd / 1_000) * 1e6).toBeLessThan(2 ** 63);
});

test("records the usage of another model as one charged entry that is not a call", () => {
  const { recorder, written, seen } = dependencies;
  const entry = recorder.beside({ ...fields, retryIndex: 1 }, pricing, end);
  expect(entry).toMatchObject({ calls: 0, totalMs: 0, usage, costNanoUsd: 325_000 });
  expect([written, seen]).toEqual([[entry], [entry]]);
});

test("marks usage without a source as an estimate", () => {
  const { recorder } = dependencies;
  expect(recorder.begin({ ...fields }, pricing).settle({ ...end, usageSource: "none" }).usageSource).toBe("estimated");
  const unused = { ...end, usage: { ...noUsage }, usageSource: "none" } as const;
  expect(recorder.begin({ ...fields }, pricing).settle(unused).usageSource).toBe("none");
});

test("omits raw usage that is too long", () => {
  const { recorder } = dependencies;
  const rawOf = (rawUsage: string) => recorder.begin({ ...fields }, pricing).settle({ ...end, rawUsage }).rawUsage;
  const longest = "x".repeat(bounds.rawUsageBytesMax);
  expect(rawOf(longest)).toBe(longest);
  expect(rawOf(`${longest}x`)).toBeNull();
  expect(rawOf("ü".repeat(bounds.rawUsageBytesMax - 1))).toBeNull();
});

test("records a refused call as one free entry with its error code", () => {
  const { recorder, written, seen } = dependencies;
  const entry = recorder.refuse(fields, "budget_exceeded", 402, 3.5);
  expect(entry).toMatchObject({
    outcome: "rejected",
    httpStatus: 402,
    errorCode: "budget_exceeded",
    usage: noUsage,
    usageSource: "none",
    costNanoUsd: 0,
    totalMs: 3.5,
  });
  expect(written).toEqual([entry]);
  expect(seen).toEqual([entry]);
});

test("reports each refused call that shares an entry, with the request that is counted in the ledger", () => {
  const { recorder, written, folded, clock } = dependencies;
  for (let n = 1; n <= 8; n++) recorder.refuse({ ...fields, requestId: `req_${n}` }, "rate_limit_exceeded", 429, 1);
  expect(folded).toEqual([
    ["req_7", "req_6"],
    ["req_8", "req_6"],
  ]);
  clock.advance(1_000);
  expect(written.at(-1)).toMatchObject({ requestId: "req_6", calls: 3 });
  const agent = { ...fields, personId: "usr_1", requestedModel: "m" };
  for (const requestId of ["req_a", "req_b"]) recorder.refuse({ ...agent, requestId }, "model_not_found", 404, 1);
  expect(folded.at(-1)).toEqual(["req_b", "req_a"]);
});

test("stores the price version of the tier that the answer has named so far", () => {
  const { recorder, written } = dependencies;
  const terms = { costSource: "price", factors: [{ axis: "tier", word: "priority", factor: 2_000 }] } as const;
  const attempt = recorder.begin({ ...fields }, { price, terms });
  const reached: Reached = { ...end, served: { tier: "priority" } };
  attempt.checkpoint(reached);
  expect(written.at(-1)).toMatchObject({ priceVersion: "prc_7*2000000" });
  expect(variantNamed(price, "prc_7*2000000")?.table).toEqual({ inputUncached: 2_500_000, output: 20_000_000 });
  const entry = attempt.settle({ ...end, served: { tier: "priority" } });
  expect(entry).toMatchObject({ priceVersion: "prc_7*2000000", served: "priority" });
  expect(entry.costNanoUsd).toBe(2 * (100 * 1_250 + 20 * 10_000));
});

test("stores the price version of the model that the answer has named so far", () => {
  const { recorder, written } = dependencies;
  const other: PriceVersion = { ...price, id: "prc_8", table: { inputUncached: 2_500_000, output: 20_000_000 } };
  const priceOf = (name: string) => (name === "other" ? other : null);
  const attempt = recorder.begin({ ...fields }, { ...pricing, priceOf });
  attempt.checkpoint({ ...end, served: { model: "unheard-of" } });
  expect(written.at(-1)).toMatchObject({ priceVersion: "prc_7" });
  attempt.checkpoint({ ...end, served: { model: "other" } });
  expect(written.at(-1)).toMatchObject({ priceVersion: "prc_8" });
  const entry = attempt.settle({ ...end, served: { model: "other" } });
  expect(entry).toMatchObject({ priceVersion: "prc_8", servedModel: "other" });
  expect(entry.costNanoUsd).toBe(2 * (100 * 1_250 + 20 * 10_000));
});

test("charges at least the price per call", () => {
  const { recorder } = dependencies;
  const usage = { ...end.usage, chargedRequests: 1 };
  const settled = (nanoUsd: number) =>
    recorder.begin({ ...fields }, { ...pricing, floor: pricePerCall(nanoUsd) }).settle({ ...end, usage });
  expect(settled(1)).toMatchObject({ costNanoUsd: 325_000, priceVersion: "prc_7" });
  expect(settled(1_000_000)).toMatchObject({ costNanoUsd: 1_000_000, priceVersion: "call:1000000" });
});
