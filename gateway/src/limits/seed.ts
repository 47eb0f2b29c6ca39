import type { ConfigSnapshot, LimitScope } from "#core/index.ts";
import type { Clock, Counter, LedgerStore } from "#ports/index.ts";
import { claimKey } from "./limit-rule.ts";
import { rateWindowMs } from "./rates.ts";
import { scopesOfCall } from "./spending.ts";

export interface SeedOptions {
  readonly counter: Pick<Counter, "seed">;
  readonly ledgerStore: Pick<LedgerStore, "recent">;
  readonly clock: Clock;
  readonly configSnapshot: Pick<ConfigSnapshot, "workspaces" | "groups">;
}

/**
 * Counts the calls of the last minute again after a restart, each once and in its own minute. Workspaces and groups without rate limits
 * are skipped. The config snapshot has no limits of keys and people, so each of them gets windows; unused ones are evicted
 * a minute later. Entries with a time in the future (the clock was set back) are skipped.
 */
export async function seedRates(options: SeedOptions): Promise<void> {
  const { counter, ledgerStore, clock } = options;
  const { workspaces, groups } = options.configSnapshot;
  const now = clock.now();
  for (const row of await ledgerStore.recent(now - rateWindowMs, now + skewMs)) {
    // A row counts as of the end of its second: a call must not leave the window before its minute is over.
    const at = Math.min(row.at + 999, now);
    for (const [kind, id] of scopesOfCall(row)) {
      if (kind === "group" && !hasRates(groups.get(id)?.scope)) continue;
      if (kind === "workspace" && !hasRates(workspaces.get(id)?.scope)) continue;
      if (row.requests > 0) await counter.seed(claimKey("rpm", kind, id), row.requests, at, rateWindowMs);
      if (row.tokens > 0) await counter.seed(claimKey("tpm", kind, id), row.tokens, at, rateWindowMs);
    }
  }
}

/** The clock may have been corrected by a little. */
const skewMs = 1_000;

function hasRates(scope: LimitScope | undefined): boolean {
  return scope?.limits.rpm !== undefined || scope?.limits.tpm !== undefined;
}
