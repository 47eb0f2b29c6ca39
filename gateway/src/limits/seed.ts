import type { BudgetPeriod, LimitScope, ScopeKind } from "#core/index.ts";
import type { Clock, Counter, LedgerStore, SpendRow } from "#ports/index.ts";
import { claimKey } from "./claim-key.ts";
import { periodStart } from "./period.ts";
import { rateWindowMs } from "./rate.ts";

export interface SeedOptions {
  readonly counter: Counter;
  readonly ledgerStore: LedgerStore;
  readonly clock: Clock;
  /** The scopes that have budgets. Left out: whatever the ledger knows is counted, for every period. */
  readonly scopes?: Iterable<LimitScope>;
}

/** Fills a counter that starts empty with what the ledger remembers, before the first call is admitted. */
export async function seedFromLedger(options: SeedOptions): Promise<void> {
  await seedBudgets(options);
  await seedRates(options);
}

const periods: readonly BudgetPeriod[] = ["day", "week", "month", "total"];

/** What each budget has spent in its running period. */
export async function seedBudgets(options: SeedOptions): Promise<void> {
  const { counter, ledgerStore, clock } = options;
  const wanted = options.scopes === undefined ? null : wantedBudgets(options.scopes);
  for (const period of periods) {
    if (wanted !== null && !wanted.periods.has(period)) continue;
    const nowMs = clock.now();
    const startMs = periodStart(period, nowMs);
    for (const [name, nanoUsd] of sumBudgets(await ledgerStore.spend(period, nowMs), period)) {
      if (wanted === null || wanted.keys.has(name)) counter.seed(name, "budget", nanoUsd, nowMs, 0, startMs);
    }
  }
}

/** What was requested in the last minute: a request counts once, however many attempts it took. */
export async function seedRates(options: SeedOptions): Promise<void> {
  const { counter, ledgerStore, clock } = options;
  const seen = new Set<string>();
  const rows = await ledgerStore.recent(clock.now() - rateWindowMs);
  for (const row of rows) {
    const first = !seen.has(row.requestId);
    seen.add(row.requestId);
    for (const [kind, id] of scopesOf(row)) {
      if (first) counter.seed(claimKey.requests(kind, id), "window", 1, row.at, rateWindowMs, 0);
      if (row.tokens > 0) counter.seed(claimKey.tokens(kind, id), "window", row.tokens, row.at, rateWindowMs, 0);
    }
  }
}

type ScopeIds = Pick<SpendRow, "workspaceId" | "groupId" | "keyId">;

function scopesOf(row: ScopeIds): readonly (readonly [ScopeKind, string])[] {
  return [
    ["workspace", row.workspaceId],
    ["group", row.groupId],
    ["key", row.keyId],
  ];
}

function sumBudgets(rows: readonly SpendRow[], period: BudgetPeriod): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const row of rows) {
    if (row.nanoUsd === 0) continue;
    for (const [kind, id] of scopesOf(row)) {
      const name = claimKey.budget(kind, id, period);
      sums.set(name, (sums.get(name) ?? 0) + row.nanoUsd);
    }
  }
  return sums;
}

function wantedBudgets(scopes: Iterable<LimitScope>): {
  keys: ReadonlySet<string>;
  periods: ReadonlySet<BudgetPeriod>;
} {
  const keys = new Set<string>();
  const wantedPeriods = new Set<BudgetPeriod>();
  for (const scope of scopes) {
    if (scope.budget === null) continue;
    keys.add(claimKey.budget(scope.kind, scope.id, scope.budget.period));
    wantedPeriods.add(scope.budget.period);
  }
  return { keys, periods: wantedPeriods };
}
