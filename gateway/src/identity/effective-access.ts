import type { ConsoleKey } from "@sluice/contract/console";
import type { AccessReason } from "@sluice/contract/words";
import {
  type ConfigSnapshot,
  type Group,
  isBlocked,
  type Model,
  type ModelPatterns,
  type Workspace,
} from "#core/index.ts";
import { matches } from "./model-grant.ts";

/** A key where it stands, as effective access is asked of it. */
export interface KeyUsage {
  readonly workspace: Workspace;
  readonly group: Group;
  /** null: whatever the group may call. */
  readonly models: ModelPatterns | null;
  readonly state: ConsoleKey["state"];
  /** What limits it; a budget among them keeps models without a price away. */
  readonly scopes: readonly { readonly budget: object | null }[];
}

/**
 * Whether a key may call a model, by the rules its calls go by; else the first thing that says no, widest first. A model
 * without a deployment of its own is still served by a fallback that the key may call.
 */
export function accessReason(
  key: KeyUsage,
  model: Model,
  configSnapshot: Pick<ConfigSnapshot, "models">,
): AccessReason {
  if (!key.workspace.enabled) return "workspace_disabled";
  const refused = refusedBy(key, model.name);
  if (refused !== null) return refused;
  if (key.state !== "active") return stateReasons[key.state];
  if (isBlocked(model, key.scopes)) return "model_not_priced";
  return isServed(key, model, configSnapshot) ? "yes" : "no_deployment";
}

/** Whether the patterns of all three let the model through, whatever state the key is in. */
export function isGranted(key: KeyUsage, model: string): boolean {
  return refusedBy(key, model) === null;
}

/** How many deployments of the model could serve. */
export function deploymentsReady(model: Model): number {
  return model.deployments.filter((deployment) => deployment.enabled && deployment.provider.enabled).length;
}

const stateReasons = {
  disabled: "key_disabled",
  expired: "key_expired",
  revoked: "key_revoked",
  without_secret: "key_without_secret",
} as const satisfies Record<Exclude<ConsoleKey["state"], "active">, AccessReason>;

function refusedBy(key: KeyUsage, model: string): "workspace_models" | "group_models" | "key_models" | null {
  if (!matches(key.workspace.models, model)) return "workspace_models";
  if (!matches(key.group.models, model)) return "group_models";
  return key.models === null || matches(key.models, model) ? null : "key_models";
}

function isServed(key: KeyUsage, model: Model, configSnapshot: Pick<ConfigSnapshot, "models">): boolean {
  if (deploymentsReady(model) > 0) return true;
  return model.fallbacks.some((name) => {
    const fallback = configSnapshot.models.get(name);
    return (
      fallback !== undefined &&
      !isBlocked(fallback, key.scopes) &&
      deploymentsReady(fallback) > 0 &&
      isGranted(key, name)
    );
  });
}
