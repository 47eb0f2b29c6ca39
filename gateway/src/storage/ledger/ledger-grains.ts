import { hourMs, type rollupScope } from "./ledger-rollup.ts";

export const dayMs = 24 * hourMs;

export type ScopeColumn = Exclude<(typeof rollupScope)[number], "hour">;

/** A grouping of sums. */
export interface Grain {
  readonly name: string;
  readonly scope: readonly ScopeColumn[];
}

/**
 * The groupings of summed days (UTC), fewest rows first. Only the last includes the key, with its group and person: sums by all columns
 * would have nearly as many rows as the hours.
 */
export const dayGrains: readonly Grain[] = [
  { name: "provider", scope: ["provider"] },
  { name: "model", scope: ["model"] },
  { name: "group", scope: ["workspace_id", "group_id"] },
  { name: "provider-model", scope: ["provider", "model"] },
  { name: "workspace-provider", scope: ["workspace_id", "provider"] },
  { name: "workspace-model", scope: ["workspace_id", "model"] },
  { name: "workspace-provider-model", scope: ["workspace_id", "provider", "model"] },
  { name: "served", scope: ["workspace_id", "group_id", "model", "provider"] },
  { name: "person", scope: ["workspace_id", "person_id"] },
  { name: "client", scope: ["workspace_id", "user_agent", "endpoint"] },
  { name: "tags", scope: ["workspace_id", "tags"] },
  { name: "key", scope: ["workspace_id", "group_id", "key_id", "person_id"] },
];

/**
 * The groupings of summed hours, fewest rows first. Reports read them for the current day, for the days that a period cuts, and for days
 * of other time zones. Groupings by key or person are left out: they have nearly as many rows as the rollups.
 */
export const hourGrains: readonly Grain[] = [
  { name: "provider", scope: ["provider"] },
  { name: "model", scope: ["model"] },
  { name: "group", scope: ["workspace_id", "group_id"] },
  { name: "workspace-provider", scope: ["workspace_id", "provider"] },
  { name: "workspace-model", scope: ["workspace_id", "model"] },
  { name: "client", scope: ["workspace_id", "user_agent", "endpoint"] },
  { name: "tags", scope: ["workspace_id", "tags"] },
];

export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}
