import { describe, expect, test } from "bun:test";
import { BudgetHistory, tokenNanoUsd } from "./budget-history.ts";
import { CountingUpstream, upstreamInputTokens } from "./counting-upstream.ts";

/** `SLUICE_BUDGET_SEEDS=5000` plays more seeds. */
const seeds = Number(process.env["SLUICE_BUDGET_SEEDS"] ?? 60);
const batch = 25;

/**
 * The bound. A call reserves its highest cost. It can exceed that by the last event of its stream before it was ended,
 * and by the cost of failed attempts, because the reservation also covers the following attempt.
 */
const eventNanoUsd = CountingUpstream.eventTokensMax * tokenNanoUsd;

async function play(seed: number) {
  const history = new BudgetHistory(seed);
  await history.play(3, 14);
  const wrong: string[] = [...history.problems, ...history.ledger.faults];
  const report = (fault: string): void => void wrong.push(`seed ${seed}: ${fault}`);

  // The ledger equals what the upstreams really made, for all calls that ended.
  const made = new Map(history.upstreams.flatMap((upstream) => [...upstream.made]));
  for (const entry of history.ledger.entries) {
    const truth = made.get(entry.attemptId);
    if (entry.outcome === "succeeded") {
      const cost = (truth?.outputTokens ?? Number.NaN) * tokenNanoUsd + upstreamInputTokens * 1_250;
      if (truth?.complete !== true || entry.costNanoUsd !== cost)
        report(`${entry.attemptId} is recorded at ${entry.costNanoUsd}, and cost ${cost}`);
    } else if (entry.usageSource !== "none" && entry.usage.output > (truth?.outputTokens ?? 0)) {
      report(`${entry.attemptId} is recorded with more output than was made`);
    }
  }
  for (const attemptId of made.keys()) {
    if (!history.ledger.entries.some((entry) => entry.attemptId === attemptId)) report(`${attemptId} has no entry`);
  }

  // The cost of each call beyond its reservation.
  const beyond = new Map<string, number>();
  for (const { requestId, permit, stream } of history.calls) {
    const entries = history.ledger.entries.filter((entry) => entry.requestId === requestId);
    const cost = entries.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0);
    const excess = Math.max(0, cost - permit.held);
    beyond.set(requestId, excess);
    const [last, ...failed] = entries.toSorted((one, other) => other.retryIndex - one.retryIndex);
    const allowed = failed.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0) + (stream ? eventNanoUsd : 0);
    if (last !== undefined && excess > allowed)
      report(`${requestId} cost ${excess} more than it reserved, and ${allowed} is allowed`);
  }

  // No budget was exceeded by more than that, and by calls to which the budget did not apply.
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
      report(`${key}: ${history.spent(budget)} spent of ${limit}, ${excess} beyond reservations, ${free} by others`);
    }
  }

  // All reservations are released, and each budget equals the ledger.
  if (history.run.outstanding() !== 0) report(`${history.run.outstanding()} reservations remain`);
  if (history.run.admission.repeatedEndings !== 0) report("a permit ended twice");
  for (const { name, used, ledger } of await history.limitUsages()) {
    if (used !== ledger) report(`${name}: the budget has ${used}, the ledger ${ledger}`);
  }
  return { wrong, codes: history.codes };
}

describe(`${seeds} histories of budgets, with faults, clock changes, edits, moved keys and killed processes`, () => {
  const codes = new Map<string, number>();
  test.each(Array.from({ length: Math.ceil(seeds / batch) }, (_, n) => n))(
    "batch %d: the ledger equals the upstreams, budgets equal the ledger and stay within their bound, and no reservation remains",
    async (n) => {
      for (let seed = n * batch; seed < Math.min(seeds, (n + 1) * batch); seed++) {
        const played = await play(seed);
        expect(played.wrong).toEqual([]);
        for (const [code, count] of played.codes) codes.set(code, (codes.get(code) ?? 0) + count);
      }
    },
  );

  test("covers every outcome: answered, rejected and ended for a budget, and rejected while the ledger was unavailable", () => {
    for (const code of ["answered", "budget_exceeded", "ended", "ledger_unavailable", "client_closed"]) {
      expect([code, (codes.get(code) ?? 0) > 0]).toEqual([code, true]);
    }
  });
});
