import { describe, expect, test } from "bun:test";
import { faultsOf } from "./call-checks.ts";
import { CallHistory, eventsFor, type HistoryEvent, omitted } from "./call-history.ts";
import { simulatedCall } from "./simulated-call.ts";

/** `SLUICE_CALL_SEEDS=3000` plays more seeds, `SLUICE_CALL_SEED=17` only that one. */
const only = process.env["SLUICE_CALL_SEED"];
const seeds = Number(process.env["SLUICE_CALL_SEEDS"] ?? 100);
const batch = 25;
const shrinkingsMax = 150;

async function play(events: readonly HistoryEvent[]) {
  const history = new CallHistory();
  await history.play(events);
  return { history, faults: await faultsOf(history) };
}

const faultsIn = async (events: readonly HistoryEvent[]): Promise<readonly string[]> =>
  play(events).then(
    ({ faults }) => faults,
    (thrown: unknown) => [String(thrown)],
  );

/** The fewest events that still cause a fault. Leaves out halves, then quarters, down to single events. */
async function shrink(all: readonly HistoryEvent[]): Promise<readonly HistoryEvent[]> {
  let remaining = all.map((_, index) => index);
  const only = (numbers: readonly number[]) =>
    all.map((event, index) => (numbers.includes(index) ? event : { ...event, atMs: omitted }));
  let tries = 0;
  for (let size = Math.ceil(remaining.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < remaining.length && tries < shrinkingsMax; tries++) {
      const fewer = [...remaining.slice(0, at), ...remaining.slice(at + size)];
      if ((await faultsIn(only(fewer))).length > 0) remaining = fewer;
      else at += size;
    }
  }
  return only(remaining);
}

const eventTexts = (events: readonly HistoryEvent[]): readonly string[] =>
  events.flatMap((event, index) =>
    event.atMs === omitted
      ? []
      : [
          `${event.atMs} ms: ${event.kind}${event.kind === "call" ? ` ${JSON.stringify(simulatedCall(index, event.seed))}` : ""}`,
        ],
  );

async function check(seed: number, counts: Map<string, number>): Promise<void> {
  const events = eventsFor(seed);
  const { history, faults } = await play(events).catch((thrown: unknown) => ({
    history: null,
    faults: [String(thrown)],
  }));
  if (faults.length > 0) {
    const fewest = await shrink(events);
    throw new Error(
      [`seed ${seed}:`, ...eventTexts(fewest), ...(await faultsIn(fewest)), "all events:", ...faults].join("\n"),
    );
  }
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  for (const entry of history?.ledger.entries ?? []) {
    count(entry.outcome);
    count(`${entry.callerDialect} to ${entry.upstreamDialect}`);
    if (entry.errorCode !== null) count(entry.errorCode);
    if (entry.retryIndex > 0) count("retried");
    if (entry.usage.webSearches > 0) count("searched");
    count(entry.usageSource);
  }
  for (const { status } of history?.calls ?? []) count(String(status));
}

describe("seeded histories of calls, with failing upstreams, disconnecting callers, edits, clock changes and killed processes", () => {
  const counts = new Map<string, number>();
  const batches = only === undefined ? Array.from({ length: Math.ceil(seeds / batch) }, (_, n) => n) : [0];
  test.each(batches)(
    "batch %d: each request has one entry at its cost, nothing chargeable is free, budgets hold, and no reservation remains",
    async (n) => {
      if (only !== undefined) return await check(Number(only), counts);
      for (let seed = n * batch; seed < Math.min(seeds, (n + 1) * batch); seed++) await check(seed, counts);
    },
  );

  test.skipIf(only !== undefined)("covers every outcome", () => {
    if (process.env["SLUICE_CALL_COUNTS"] !== undefined) console.log(counts);
    const dialects = ["openai-chat", "anthropic-messages", "openai-responses", "gemini"];
    const pairs = dialects.flatMap((from) => dialects.map((to) => `${from} to ${to}`));
    const ends = ["succeeded", "failed", "cancelled", "interrupted", "upstream_timeout", "upstream_truncated"];
    const rest = ["budget_exceeded", "client_closed", "retried", "searched", "upstream", "estimated", "none"];
    for (const what of [...pairs, ...ends, ...rest, "200", "402", "429", "503"])
      expect(counts.get(what) ?? 0, what).toBeGreaterThan(0);
  });

  test("plays the same history for the same seed", async () => {
    const entries = async () => (await play(eventsFor(5))).history.ledger.entries;
    expect(await entries()).toEqual(await entries());
  });
});
