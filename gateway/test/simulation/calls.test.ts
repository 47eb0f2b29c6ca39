import { describe, expect, test } from "bun:test";
import { askedCall } from "./asked-call.ts";
import { faultsOf } from "./call-checks.ts";
import { type Act, actsOf, CallHistory, leftOut } from "./call-history.ts";

/** `SLUICE_CALL_SEEDS=3000` plays more of them, `SLUICE_CALL_SEED=17` that one alone. */
const only = process.env["SLUICE_CALL_SEED"];
const seeds = Number(process.env["SLUICE_CALL_SEEDS"] ?? 100);
const batch = 25;
const shrinkingsMax = 150;

async function play(acts: readonly Act[]) {
  const history = new CallHistory();
  await history.play(acts);
  return { history, faults: await faultsOf(history) };
}

const faultsIn = async (acts: readonly Act[]): Promise<readonly string[]> =>
  play(acts).then(
    ({ faults }) => faults,
    (thrown: unknown) => [String(thrown)],
  );

/** The fewest acts that still go wrong: halves are left out, then quarters, down to single ones. */
async function shrunken(all: readonly Act[]): Promise<readonly Act[]> {
  let kept = all.map((_, index) => index);
  const only = (numbers: readonly number[]) =>
    all.map((act, index) => (numbers.includes(index) ? act : { ...act, atMs: leftOut }));
  let tries = 0;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length && tries < shrinkingsMax; tries++) {
      const fewer = [...kept.slice(0, at), ...kept.slice(at + size)];
      if ((await faultsIn(only(fewer))).length > 0) kept = fewer;
      else at += size;
    }
  }
  return only(kept);
}

const told = (acts: readonly Act[]): readonly string[] =>
  acts.flatMap((act, index) =>
    act.atMs === leftOut
      ? []
      : [`${act.atMs} ms: ${act.kind}${act.kind === "call" ? ` ${JSON.stringify(askedCall(index, act.seed))}` : ""}`],
  );

async function check(seed: number, seen: Map<string, number>): Promise<void> {
  const acts = actsOf(seed);
  const { history, faults } = await play(acts).catch((thrown: unknown) => ({
    history: null,
    faults: [String(thrown)],
  }));
  if (faults.length > 0) {
    const fewest = await shrunken(acts);
    throw new Error([`seed ${seed}:`, ...told(fewest), ...(await faultsIn(fewest)), "whole:", ...faults].join("\n"));
  }
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (const entry of history?.ledger.entries ?? []) {
    count(entry.outcome);
    count(`${entry.callerDialect} to ${entry.upstreamDialect}`);
    if (entry.errorCode !== null) count(entry.errorCode);
    if (entry.retryIndex > 0) count("tried again");
    if (entry.usage.webSearches > 0) count("searched");
    count(entry.usageSource);
  }
  for (const { status } of history?.calls ?? []) count(String(status));
}

describe("seeded histories of calls, with upstreams that fail, callers that leave, edits, clocks that are set and killed processes", () => {
  const seen = new Map<string, number>();
  const batches = only === undefined ? Array.from({ length: Math.ceil(seeds / batch) }, (_, n) => n) : [0];
  test.each(batches)(
    "batch %d: each request is one entry at what it cost, nothing is free that may be charged, budgets hold, nothing stays held",
    async (n) => {
      if (only !== undefined) return await check(Number(only), seen);
      for (let seed = n * batch; seed < Math.min(seeds, (n + 1) * batch); seed++) await check(seed, seen);
    },
  );

  test.skipIf(only !== undefined)("everything that can happen did", () => {
    if (process.env["SLUICE_CALL_TELL"] !== undefined) console.log(seen);
    const dialects = ["openai-chat", "anthropic-messages", "openai-responses", "gemini"];
    const pairs = dialects.flatMap((from) => dialects.map((to) => `${from} to ${to}`));
    const ends = ["succeeded", "failed", "cancelled", "interrupted", "upstream_timeout", "upstream_truncated"];
    const rest = ["budget_exceeded", "client_closed", "tried again", "searched", "upstream", "estimated", "none"];
    for (const what of [...pairs, ...ends, ...rest, "200", "402", "429", "503"])
      expect(seen.get(what) ?? 0, what).toBeGreaterThan(0);
  });

  test("the same seed plays the same history", async () => {
    const entries = async () => (await play(actsOf(5))).history.ledger.entries;
    expect(await entries()).toEqual(await entries());
  });
});
