import type { ConsoleKey } from "@sluice/contract/console";
import type { AccessReason } from "@sluice/contract/words";
import {
  type ConfigSnapshot,
  type Group,
  isBlocked,
  type Model,
  type ModelPatterns,
  type Principal,
  piecesMatch,
  type Workspace,
} from "#core/index.ts";

/** Whether a caller may use a model: its workspace, its group and its key must all name it. */
export function mayCall(principal: Principal, model: string): boolean {
  return deniedBy(principal, model) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function deniedBy(
  {
    workspace,
    group,
    key,
  }: Granted<"workspace" | "group"> & { readonly key: { readonly models: ModelPatterns | null } },
  model: string,
): "workspace" | "group" | "key" | null {
  if (!matches(workspace.models, model)) return "workspace";
  if (!matches(group.models, model)) return "group";
  return key.models !== null && !matches(key.models, model) ? "key" : null;
}

type Granted<Names extends string> = Readonly<Record<Names, { readonly models: ModelPatterns }>>;

export function matches(patterns: ModelPatterns, model: string): boolean {
  const list = compile(patterns);
  return list.every || list.names.has(model) || list.withStars.some((pieces) => piecesMatch(pieces, model));
}

/** The first of the patterns that names the model; null when none does. */
export function matchingPattern(patterns: ModelPatterns, model: string): string | null {
  if (!matches(patterns, model)) return null;
  return patterns.find((pattern) => pattern === model || piecesMatch(pattern.split(stars), model)) ?? null;
}

/** A list of patterns as it is asked: what holds no star is a name. */
interface CompiledPatterns {
  readonly every: boolean;
  readonly names: ReadonlySet<string>;
  readonly withStars: readonly (readonly string[])[];
}

/** By their list, which is frozen in the config snapshot and lives as long as its snapshot. */
const compiled = new WeakMap<ModelPatterns, CompiledPatterns>();
const stars = /\*+/;

function compile(patterns: ModelPatterns): CompiledPatterns {
  let list = compiled.get(patterns);
  if (list === undefined) {
    list = {
      every: patterns.includes("*"),
      names: new Set(patterns.filter((pattern) => !pattern.includes("*"))),
      withStars: patterns.filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split(stars)),
    };
    compiled.set(patterns, list);
  }
  return list;
}

/**
 * Whether a caller may use a provider's whole API: its workspace, its group and its key must each name the provider. No pattern
 * of models says anything of it.
 */
export function mayPassThrough(principal: Principal, provider: string): boolean {
  return passThroughDeniedBy(principal, provider) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function passThroughDeniedBy(
  { workspace, group, key }: Principal,
  provider: string,
): "workspace" | "group" | "key" | null {
  if (!workspace.passThrough.includes(provider)) return "workspace";
  if (!group.passThrough.includes(provider)) return "group";
  return key.passThrough.includes(provider) ? null : "key";
}

/** A key where it stands, as effective access is asked of it. */
export interface KeyAccess {
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
  key: KeyAccess,
  model: Model,
  configSnapshot: Pick<ConfigSnapshot, "models">,
): AccessReason {
  if (!key.workspace.enabled) return "workspace_disabled";
  const refused = deniedReason(key, model.name);
  if (refused !== null) return refused;
  if (key.state !== "active") return stateReasons[key.state];
  if (isBlocked(model, key.scopes)) return "model_not_priced";
  return isServed(key, model, configSnapshot) ? "yes" : "no_deployment";
}

/** Whether the patterns of all three let the model through, whatever state the key is in. */
export function isGranted(key: KeyAccess, model: string): boolean {
  return deniedReason(key, model) === null;
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

function deniedReason(key: KeyAccess, model: string) {
  const who = deniedBy({ ...key, key }, model);
  return who === null ? null : (`${who}_models` as const);
}

function isServed(key: KeyAccess, model: Model, configSnapshot: Pick<ConfigSnapshot, "models">): boolean {
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
