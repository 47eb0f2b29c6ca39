import { describe, expect, test } from "bun:test";
import { BudgetHistory, tokenNanoUsd } from "./budget-history.ts";
import { CountingUpstream, upstreamInputTokens } from "./counting-upstream.ts";

/** `SLUICE_BUDGET_SEEDS=5000` plays more of them. */
const seeds = Number(process.env["SLUICE_BUDGET_SEEDS"] ?? 150);
const batch = 25;

/**
 * The bound. A call holds what it may cost. Beyond that it can cost what its stream's upstream put into the last event before
 * it was ended, and what its failed attempts were charged while the hold stood for the one that went on.
 */
const eventNanoUsd = CountingUpstream.eventTokensMax * tokenNanoUsd;

async function play(seed: number) {
  const history = new BudgetHistory(seed);
  await history.play(3, 14);
  const wrong: string[] = [...history.problems, ...history.ledger.faults];
  const say = (words: string): void => void wrong.push(`seed ${seed}: ${words}`);

  // The ledger is the upstreams' truth, for all that came to an end.
  const made = new Map(history.upstreams.flatMap((upstream) => [...upstream.made]));
  for (const entry of history.ledger.entries) {
    const truth = made.get(entry.attemptId);
    if (entry.outcome === "succeeded") {
      const cost = (truth?.outputTokens ?? Number.NaN) * tokenNanoUsd + upstreamInputTokens * 1_250;
      if (truth?.complete !== true || entry.costNanoUsd !== cost)
        say(`${entry.attemptId} is booked at ${entry.costNanoUsd}, and was ${cost}`);
    } else if (entry.usageSource !== "none" && entry.usage.output > (truth?.outputTokens ?? 0)) {
      say(`${entry.attemptId} is booked with more output than was made`);
    }
  }
  for (const attemptId of made.keys()) {
    if (!history.ledger.entries.some((entry) => entry.attemptId === attemptId)) say(`${attemptId} is in no entry`);
  }

  // What a call cost beyond what it held.
  const beyond = new Map<string, number>();
  for (const { requestId, permit, stream } of history.calls) {
    const entries = history.ledger.entries.filter((entry) => entry.requestId === requestId);
    const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const excess = Math.max(0, cost - permit.held);
    beyond.set(requestId, excess);
    const [last, ...failed] = entries.toSorted((one, other) => other.retryIndex - one.retryIndex);
    const allowed = failed.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) + (stream ? eventNanoUsd : 0);
    if (last !== undefined && excess > allowed)
      say(`${requestId} cost ${excess} more than it held, and ${allowed} may be`);
  }

  // No budget was exceeded by more than that, and by what calls cost that it did not exist for.
  const budgets = new Map(history.calls.flatMap(({ held }) => held.map((one) => [one.key, one])));
  for (const [key, budget] of budgets) {
    const holders = history.calls.filter(({ held }) => held.some((one) => one.key === key));
    const limit = Math.max(
      ...holders.flatMap(({ held }) => held.filter((one) => one.key === key).map((one) => one.limit)),
    );
    const ofHolders = new Set(holders.map(({ requestId }) => requestId));
    const excess = [...ofHolders].reduce((sum, requestId) => sum + (beyond.get(requestId) ?? 0), 0);
    const free = history.spent(budget) - history.spent(budget, (entry) => ofHolders.has(entry.requestId));
    if (history.spent(budget) > limit + excess + free) {
      say(`${key}: ${history.spent(budget)} spent of ${limit}, ${excess} beyond holds, ${free} by others`);
    }
  }

  // Everything is given back, and each budget says what the ledger says.
  if (history.run.outstanding() !== 0) say(`${history.run.outstanding()} reservations are left`);
  if (history.run.admission.repeatedEndings !== 0) say("a permit ended twice");
  for (const { name, used, ledger } of await history.limitUsages()) {
    if (used !== ledger) say(`${name}: the budget says ${used}, the ledger ${ledger}`);
  }
  return { wrong, codes: history.codes };
}

describe(`${seeds} histories of budgets, with faults, clocks that are set, edits, moved keys and killed processes`, () => {
  const codes = new Map<string, number>();
  test.each(Array.from({ length: Math.ceil(seeds / batch) }, (_, n) => n))(
    "batch %d: the ledger is what upstreams made, budgets are the ledger, none is exceeded by more than its bound, nothing stays held",
    async (n) => {
      for (let seed = n * batch; seed < Math.min(seeds, (n + 1) * batch); seed++) {
        const played = await play(seed);
        expect(played.wrong).toEqual([]);
        for (const [code, count] of played.codes) codes.set(code, (codes.get(code) ?? 0) + count);
      }
    },
  );

  test("everything that can happen did: calls answered, refused for money, ended for it, and refused while nothing could be read", () => {
    for (const code of ["answered", "budget_exceeded", "ended", "ledger_unavailable", "client_closed"]) {
      expect([code, (codes.get(code) ?? 0) > 0]).toEqual([code, true]);
    }
  });
});
