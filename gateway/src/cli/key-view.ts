import type { ConsoleKey } from "@sluice/contract";

/** A key as `--json` shows it; never its secret. Times are ISO 8601. */
export function keyView(key: ConsoleKey) {
  return {
    id: key.id,
    workspace: key.workspace.slug,
    group: key.group.name,
    name: key.name,
    prefix: key.prefix,
    last_four: key.last_four,
    enabled: key.enabled && key.revoked_at === null,
    models: key.models,
    pass_through: key.pass_through,
    allowed_ips: key.allowed_ips,
    limits: key.limits,
    budget: key.budget === null ? null : { usd: key.budget.usd, period: key.budget.period },
    created_at: new Date(key.created_at).toISOString(),
    expires_at: key.expires_at === null ? null : new Date(key.expires_at).toISOString(),
    service: key.service,
    managed_by: key.managed_by,
  };
}

/** `sk-sluice-AbCd…wxyz`, or that there is no secret yet. */
export function shownSecret(key: ConsoleKey): string {
  return key.last_four === "" ? "no secret yet" : `${key.prefix}…${key.last_four}`;
}

export function shownState(key: ConsoleKey): string {
  const day = key.expires_at === null ? null : new Date(key.expires_at).toISOString().slice(0, 10);
  if (key.state === "expired") return `expired ${day}`;
  if (key.state === "active") return day === null ? "active" : `until ${day}`;
  return key.state.replaceAll("_", " ");
}
