import type { BudgetPolicy, ConfigSnapshot, Guardrail, Model, PriceVersion } from "#core/index.ts";
import type { ScopeChange } from "./scope-change.ts";

/** Models before the change, by name. */
export type ChangedRoutes = ReadonlyMap<string, Model>;

/** A guardrail of a change. `workspaceId` null: of the installation. */
export interface RehearsedGuardrail extends Pick<Guardrail, "name" | "workspaceId"> {
  /** `guardrail acme/no-mail`. */
  readonly label: string;
  /** null: it is new. */
  readonly before: Guardrail | null;
  /** null: it is removed. */
  readonly after: Guardrail | null;
}

/** A change by ids instead of names, as plain values that a thread can receive. */
export interface RehearsedChanges {
  readonly workspaces: ReadonlyMap<string, ScopeChange>;
  readonly groups: ReadonlyMap<string, ScopeChange>;
  readonly keys: ReadonlyMap<string, ScopeChange>;
  /** By the id of the person's scope. */
  readonly people: ReadonlyMap<string, ScopeChange & { readonly label: string }>;
  /** All budget policies, with the change. */
  readonly policies: readonly BudgetPolicy[];
  readonly guardrails: readonly RehearsedGuardrail[];
  /** All models, with the change. Their providers have no secrets. */
  readonly models: ReadonlyMap<string, Model>;
  /** Models with other deployments or fallbacks, as they are now. */
  readonly routes: ChangedRoutes;
  /** Changed prices, by model. */
  readonly prices: ReadonlyMap<string, PriceVersion>;
}

/** Whether all calls that the policy counts are of these workspaces. */
export function countsWithin(
  { workspaceId, match }: BudgetPolicy,
  workspaceIds: readonly string[],
  groups: ConfigSnapshot["groups"],
): boolean {
  const ofGroups = match.groups?.map((id) => groups.get(id)?.workspaceId ?? "");
  const counted = workspaceId === null ? (match.workspaces ?? ofGroups ?? []) : [workspaceId];
  return counted.length > 0 && counted.every((id) => workspaceIds.includes(id));
}
