import type { ConsoleKey } from "@sluice/contract/console";
import type { AccessReason } from "@sluice/contract/words";
import {
  type BudgetedScope,
  type ConfigSnapshot,
  type Group,
  isBlocked,
  type Model,
  type ModelPatterns,
  type Principal,
  piecesMatch,
  type ShadowDenial,
  type Workspace,
} from "#core/index.ts";

/** Whether a caller may use a model: the patterns of its workspace, group and key must all match. */
export function mayCall(principal: Principal, model: string): boolean {
  return deniedBy(principal, model) === null;
}

/** Which of the three denies the model, checked in this order; null: none. */
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

/** The grants in shadow mode that would have refused a call of this model. */
export function shadowDenials(principal: Principal, model: string): readonly ShadowDenial[] {
  const denials: ShadowDenial[] = [...shadowAddressDenials(principal)];
  for (const { shadowModels, scope } of [principal.workspace, principal.group, principal.key]) {
    if (shadowModels === undefined || matches(shadowModels, model)) continue;
    denials.push({ grant: "models", scope: scope.kind, text: `models of ${scope.label}` });
  }
  return denials;
}

/** Names the denials of a model's calls; null: the caller has no grant in shadow mode. */
export function shadowDenialsOf(principal: Principal): ((model: string) => readonly ShadowDenial[]) | null {
  const { workspace, group, key, outsideShadowIps } = principal;
  const shadow = outsideShadowIps ?? key.shadowModels ?? group.shadowModels ?? workspace.shadowModels;
  return shadow === undefined ? null : (model) => shadowDenials(principal, model);
}

/** The same for a call of a provider's own API, where model patterns do not matter. */
export function shadowAddressDenials({ outsideShadowIps, key: { scope } }: Principal): readonly ShadowDenial[] {
  if (outsideShadowIps !== true) return [];
  return [{ grant: "allowed_ips", scope: scope.kind, text: `allowed addresses of ${scope.label}` }];
}

type Granted<Names extends string> = Readonly<Record<Names, { readonly models: ModelPatterns }>>;

export function matches(patterns: ModelPatterns, model: string): boolean {
  const list = compile(patterns);
  return list.every || list.names.has(model) || list.withStars.some((pieces) => piecesMatch(pieces, model));
}

/** The first pattern that matches the model; null: none. */
export function matchingPattern(patterns: ModelPatterns, model: string): string | null {
  if (!matches(patterns, model)) return null;
  return patterns.find((pattern) => pattern === model || piecesMatch(pattern.split(stars), model)) ?? null;
}

/** Patterns without a star are names. */
interface CompiledPatterns {
  readonly every: boolean;
  readonly names: ReadonlySet<string>;
  readonly withStars: readonly (readonly string[])[];
}

/** By list: lists are frozen and live as long as their config snapshot. */
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
 * Whether a caller may use a provider's whole API: its workspace, group and key must each list the provider. Model patterns do not
 * matter.
 */
export function mayPassThrough(principal: Principal, provider: string): boolean {
  return passThroughDeniedBy(principal, provider) === null;
}

/** Which of the three denies it, checked in this order; null: none. */
export function passThroughDeniedBy(
  { workspace, group, key }: Principal,
  provider: string,
): "workspace" | "group" | "key" | null {
  if (!workspace.passThrough.includes(provider)) return "workspace";
  if (!group.passThrough.includes(provider)) return "group";
  return key.passThrough.includes(provider) ? null : "key";
}

/** A key with its workspace and group, to compute its effective access. */
export interface KeyAccess {
  readonly workspace: Workspace;
  readonly group: Group;
  /** null: all models of the group. */
  readonly models: ModelPatterns | null;
  readonly state: ConsoleKey["state"];
  /** Scopes whose limits apply. Under a budget, models without a price may be blocked. */
  readonly scopes: readonly BudgetedScope[];
}

/**
 * Whether a key may call a model, by the same rules as its calls; else the first reason why not. A model without a usable deployment
 * can still be served by a fallback that the key may call.
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
  if (isBlocked(model, key)) return "model_not_priced";
  return isServed(key, model, configSnapshot) ? "yes" : "no_deployment";
}

/** Whether the patterns of workspace, group and key allow the model. Ignores the key's state. */
export function isGranted(key: KeyAccess, model: string): boolean {
  return deniedReason(key, model) === null;
}

/** Number of enabled deployments of the model. */
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
  const denier = deniedBy({ ...key, key }, model);
  return denier === null ? null : (`${denier}_models` as const);
}

function isServed(key: KeyAccess, model: Model, configSnapshot: Pick<ConfigSnapshot, "models">): boolean {
  if (deploymentsReady(model) > 0) return true;
  return model.fallbacks.some((name) => {
    const fallback = configSnapshot.models.get(name);
    return (
      fallback !== undefined && !isBlocked(fallback, key) && deploymentsReady(fallback) > 0 && isGranted(key, name)
    );
  });
}
