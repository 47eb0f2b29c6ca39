import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { ApiKey, Budget, Group, LimitScope, ModelPatterns, RateLimits, Workspace } from "#core/index.ts";
import { limitScope, scopeColumns } from "#storage/in-thread.ts";
import type { RehearsedLimit } from "../replay/refusal.ts";

/** A change of the limits and the grant of one workspace, group, key or person. Absent members do not change. */
export interface ScopeChange {
  readonly limits?: RateLimits;
  /** null: no budget. */
  readonly budget?: Budget | null;
  /** null: every model of the group (keys). */
  readonly models?: ModelPatterns | null;
  readonly enforcesModels?: boolean;
}

/** The fields of a config file that change a scope. */
export interface ScopeFields {
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
  readonly models?: readonly string[] | null | undefined;
  readonly enforce_models?: boolean | undefined;
}

export function scopeChangeOf({ limits, budget, models, enforce_models: enforces }: ScopeFields): ScopeChange {
  const parsed = limitScope("key", "", "", scopeColumns(limits, budget));
  return {
    ...(limits === undefined ? {} : { limits: parsed.limits }),
    ...(budget === undefined ? {} : { budget: parsed.budget }),
    ...(models === undefined ? {} : { models: models === null ? null : Object.freeze([...models]) }),
    ...(enforces === undefined ? {} : { enforcesModels: enforces }),
  };
}

/** The scope with the change. The same object if nothing changes. */
function changedScope(scope: LimitScope, change: ScopeChange | undefined): LimitScope {
  if (change?.limits === undefined && change?.budget === undefined) return scope;
  const { limits = scope.limits, budget = scope.budget } = change;
  return Object.freeze({ ...scope, limits, budget });
}

/** The limits of a scope that the change sets to another value. */
export function changedLimits(before: LimitScope, after: LimitScope): readonly RehearsedLimit[] {
  const changed: RehearsedLimit[] = [];
  for (const name of ["rpm", "tpm", "concurrency"] as const) {
    const isSame =
      before.limits[name] === after.limits[name] &&
      (before.limits.enforce !== false) === (after.limits.enforce !== false);
    if (!isSame) changed.push(name);
  }
  if (JSON.stringify(before.budget) !== JSON.stringify(after.budget)) changed.push("budget");
  return changed;
}

const everyModel: ModelPatterns = Object.freeze(["*"]);

/** The workspace or group with the change. */
export function changedOwner<Owner extends Workspace | Group>(owner: Owner, change: ScopeChange | undefined): Owner {
  if (change === undefined) return owner;
  const { shadowModels, ...others } = owner;
  const models = change.models ?? shadowModels ?? owner.models;
  const enforces = change.enforcesModels ?? shadowModels === undefined;
  const grant = enforces ? { models } : { models: everyModel, shadowModels: models };
  return Object.freeze({ ...others, ...grant, scope: changedScope(owner.scope, change) }) as unknown as Owner;
}

export function changedKey(key: ApiKey, change: ScopeChange | undefined, person: ScopeChange | undefined): ApiKey {
  const { personScope } = key;
  const changedPerson = personScope === undefined ? {} : { personScope: changedScope(personScope, person) };
  if (change === undefined) return person === undefined ? key : Object.freeze({ ...key, ...changedPerson });
  const { shadowModels, ...others } = key;
  const models = change.models === undefined ? (shadowModels ?? key.models) : change.models;
  const enforces = change.enforcesModels ?? shadowModels === undefined;
  const grant = enforces || models === null ? { models } : { models: null, shadowModels: models };
  return Object.freeze({ ...others, ...grant, ...changedPerson, scope: changedScope(key.scope, change) });
}
