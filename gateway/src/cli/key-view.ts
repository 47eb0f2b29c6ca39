import { nanoToUsd } from "#core/index.ts";
import type { KeyListing } from "#ports/index.ts";

/** A key as `--json` shows it; never its secret. Times are ISO 8601. */
export function keyView(key: KeyListing) {
  const { limits, budget } = key.scope;
  return {
    id: key.id,
    workspace: key.workspaceSlug,
    group: key.groupName,
    name: key.name,
    prefix: key.prefix,
    last_four: key.lastFour,
    enabled: key.enabled,
    models: key.models,
    pass_through: key.passThrough,
    allowed_ips: key.allowedIps,
    limits,
    budget: budget === null ? null : { usd: nanoToUsd(budget.nanoUsd), period: budget.period },
    created_at: new Date(key.createdAt).toISOString(),
    expires_at: key.expiresAt === null ? null : new Date(key.expiresAt).toISOString(),
    managed_by: key.managedBy,
  };
}

/** `sk-sluice-AbCd…wxyz`, or that there is no secret yet. */
export function shownSecret(key: KeyListing): string {
  return key.lastFour === "" ? "no secret yet" : `${key.prefix}…${key.lastFour}`;
}

export function keyState(key: KeyListing, now: number): string {
  if (!key.enabled) return "revoked or disabled";
  if (key.expiresAt === null) return "active";
  const day = new Date(key.expiresAt).toISOString().slice(0, 10);
  return key.expiresAt <= now ? `expired ${day}` : `until ${day}`;
}
