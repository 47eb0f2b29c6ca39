import type { ConfigSnapshot, LimitScope, NanoUsd, Principal } from "#core/index.ts";
import type { Claim, Clock, Counter, LedgerStore } from "#ports/index.ts";
import { budgetRules } from "./budget.ts";
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
 * After a restart: what was requested in the last minute, so that it counts once and where it belongs. Windows are made only
 * where a limit stands; which keys and people have one is not in the config snapshot, so each of that minute gets its own, and what nobody
 * asks for is forgotten a minute later. What bears a later time than now (the clock was set back) is not of the last minute.
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

/** The hold of a task that was admitted before, as claims without a limit. */
export function heldClaims(principal: Pick<Principal, "scopes">, nanoUsd: NanoUsd, nowMs: number): readonly Claim[] {
  const wanted = { tokens: 0, most: nanoUsd, least: nanoUsd };
  const rules = principal.scopes.flatMap((scope) => budgetRules(scope));
  return rules.map((rule) => ({ ...rule.claim(wanted, nowMs), limit: Number.POSITIVE_INFINITY }));
}

/** The clock may have been corrected by a little. */
const skewMs = 1_000;

function hasRates(scope: LimitScope | undefined): boolean {
  return scope?.limits.rpm !== undefined || scope?.limits.tpm !== undefined;
}
