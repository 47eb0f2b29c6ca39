import { type LimitScope, usdToNano } from "#core/index.ts";
import type { Clock, Counter, ReportStore } from "#ports/index.ts";
import { claimKey } from "./claim-key.ts";
import { periodStart } from "./period.ts";

export interface NewBudgetsOptions {
  readonly counter: Pick<Counter, "raise">;
  readonly reports: Pick<ReportStore, "dailySpend">;
  readonly clock: Clock;
}

/**
 * Budgets that are set while the gateway runs. Nobody counted for them until now, so what was spent in their period is
 * taken from the ledger. Calls that are under way at that moment are in neither and go free of the new budget.
 */
export class NewBudgets {
  readonly #options: NewBudgetsOptions;
  readonly #known = new Set<string>();

  /** `counted`: what had budgets at the start, which the counter was seeded for. */
  constructor(options: NewBudgetsOptions, counted: Iterable<LimitScope>) {
    this.#options = options;
    for (const scope of counted) this.#known.add(nameOf(scope));
  }

  /** Takes in the scopes as they are now; resolves when every new budget among them counts. */
  async see(scopes: Iterable<LimitScope>, workspaceOf: (scope: LimitScope) => string | null): Promise<void> {
    for (const scope of scopes) {
      const name = nameOf(scope);
      if (scope.budget === null || this.#known.has(name)) continue;
      this.#known.add(name);
      await this.#raise(scope, workspaceOf(scope)).catch((thrown: unknown) => {
        this.#known.delete(name);
        throw thrown;
      });
    }
  }

  async #raise(scope: LimitScope, workspaceId: string | null): Promise<void> {
    const { counter, reports, clock } = this.#options;
    if (scope.budget === null) return;
    const startMs = periodStart(scope.budget.period, clock.now());
    const days = await reports.dailySpend(workspaceId, startMs, scope.kind === "key" ? scope.id : undefined);
    let usd = 0;
    for (const day of days) {
      const id = scope.kind === "workspace" ? day.workspaceId : scope.kind === "group" ? day.groupId : day.keyId;
      if (id === scope.id && day.day >= startMs) usd += day.usd;
    }
    counter.raise(claimKey.budget(scope.kind, scope.id, scope.budget.period), usdToNano(usd), startMs);
  }
}

function nameOf(scope: LimitScope): string {
  return scope.budget === null ? "" : claimKey.budget(scope.kind, scope.id, scope.budget.period);
}
