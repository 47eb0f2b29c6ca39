import { expect, test } from "bun:test";
import { createMemoryCounter } from "#coordination/index.ts";
import type { BudgetPeriod } from "#core/index.ts";
import type { LedgerStore, RecentRow, SpendRow } from "#ports/index.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { governedPrincipal } from "../../test/simulation/governed-principal.ts";
import { createAdmission } from "./admit.ts";
import { seedFromLedger } from "./seed.ts";

const ids = { workspaceId: "ws_1", groupId: "grp_1", keyId: "key_1" };

/** A ledger that remembers these rows; only the two questions that seeding asks can be answered. */
function ledger(spend: (period: BudgetPeriod) => SpendRow[], recent: RecentRow[]): LedgerStore {
  const unasked = (): never => {
    throw new Error("seeding asks only what was spent and what is recent");
  };
  return {
    spend: async (period) => spend(period),
    recent: async (sinceMs) => recent.filter((row) => row.at >= sinceMs),
    insert: unasked,
    page: unasked,
    usage: unasked,
    keeper: unasked,
    price: unasked,
    check: unasked,
    prune: unasked,
  };
}

test("after a restart budgets and rates stand where the ledger says, and a request of several attempts counts once", async () => {
  const clock = new FakeClock();
  const counter = createMemoryCounter({ clock });
  const principal = governedPrincipal({
    workspace: { budget: { nanoUsd: 9e9, period: "month" } },
    group: { limits: { rpm: 10 } },
    key: { limits: { tpm: 1_000 }, budget: { nanoUsd: 5e9, period: "day" } },
  });
  const attempt = (requestId: string, agoMs: number, tokens: number): RecentRow => ({
    ...ids,
    requestId,
    at: clock.now() - agoMs,
    tokens,
  });
  const store = ledger(
    (period) =>
      period === "day"
        ? [{ ...ids, nanoUsd: 2e9 }]
        : [
            { ...ids, nanoUsd: 3e9 },
            { ...ids, keyId: "key_2", nanoUsd: 4e9 },
          ],
    [
      attempt("req_1", 30_000, 0),
      attempt("req_1", 29_000, 200),
      attempt("req_2", 10_000, 300),
      attempt("req_3", 90_000, 500),
    ],
  );
  await seedFromLedger({ counter, ledgerStore: store, clock, scopes: principal.scopes });
  const standings = await createAdmission({ counter, clock }).standing(principal);
  expect(standings.map(({ name, used }) => [name, used])).toEqual([
    ["budget", 7],
    ["rpm", 2],
    ["budget", 2],
    ["tpm", 500],
  ]);
});
