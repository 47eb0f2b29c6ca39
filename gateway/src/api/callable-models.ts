import { type ConfigSnapshot, Failure, isBlocked, type Model, oncePerObject, type Principal } from "#core/index.ts";
import { mayCall, whyNot } from "#identity/index.ts";

/** The model asked for and, behind it, its fallbacks; only what the caller may use and what is served. Empty: see `noModel`. */
export function callableModels(configSnapshot: ConfigSnapshot, principal: Principal, name: string): readonly Model[] {
  const model = configSnapshot.models.get(name);
  if (model === undefined) return none;
  const known = knownModels(principal);
  let found = known.get(model);
  if (found === undefined || found.configSnapshot !== configSnapshot) {
    found = { configSnapshot, models: findModels(configSnapshot, principal, model) };
    known.set(model, found);
  }
  return found.models;
}

const none: readonly Model[] = [];

/** By principal and model, of which there are new ones with each config snapshot. */
const knownModels = oncePerObject(
  (_: Principal) =>
    new WeakMap<Model, { readonly configSnapshot: ConfigSnapshot; readonly models: readonly Model[] }>(),
);

function findModels(configSnapshot: ConfigSnapshot, principal: Principal, model: Model): readonly Model[] {
  if (isBlocked(model, principal.scopes) || !mayCall(principal, model.name)) return none;
  if (model.fallbacks.length === 0) return [model];
  const fallbacks = model.fallbacks.flatMap((fallback) => {
    const found = configSnapshot.models.get(fallback);
    return found !== undefined && !isBlocked(found, principal.scopes) && mayCall(principal, fallback) ? [found] : [];
  });
  return [model, ...fallbacks];
}

export function isCallable(configSnapshot: ConfigSnapshot, principal: Principal, name: string): boolean {
  return configSnapshot.models.has(name) && mayCall(principal, name);
}

/** Why there is no model for a call. One that does not exist and one that is not granted look alike. */
export function noModel(configSnapshot: ConfigSnapshot, principal: Principal, name: string): Failure {
  return isCallable(configSnapshot, principal, name) ? notPriced(name) : modelNotFound(name);
}

/** The same, and what the explanation of the request says beside it. */
export function refusalOf(configSnapshot: ConfigSnapshot, principal: Principal, name: string): [Failure, string] {
  const failure = noModel(configSnapshot, principal, name);
  if (failure.code === "model_not_found") return [failure, whyNotFound(principal, name)];
  return [failure, `The model "${name}" has no price, and neither it nor the settings allow that to this key.`];
}

export function modelNotFound(name: string): Failure {
  return new Failure("model_not_found", `The model "${name}" does not exist or is not available to this API key.`, {
    param: "model",
  });
}

function notPriced(name: string): Failure {
  return new Failure(
    "model_not_priced",
    `The model "${name}" has no price, so no budget can count what its calls cost. Ask whoever runs the gateway to set its price, or to allow calls of it without one.`,
    { param: "model" },
  );
}

/**
 * What the caller is not told: who does not grant the model. Only grants are looked at where they say no, so that nobody
 * learns from it whether a model that is not granted exists.
 */
function whyNotFound(principal: Principal, model: string): string {
  const level = whyNot(principal, model);
  if (level === null) return `There is no model called "${model}".`;
  return `${holderOf(principal, level)} is not granted the model "${model}".`;
}

/** Who of a caller's grants something, by name. */
export function holderOf({ workspace, group, key }: Principal, level: "workspace" | "group" | "key"): string {
  if (level === "workspace") return `The workspace ${workspace.slug}`;
  return level === "group" ? `The group ${group.name}` : `The key ${key.name}`;
}
