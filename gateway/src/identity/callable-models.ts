import { type ConfigSnapshot, Failure, isBlocked, type Model, oncePerObject, type Principal } from "#core/index.ts";
import { deniedBy, mayCall } from "./model-grant.ts";

type Models = Pick<ConfigSnapshot, "models">;

/** The requested model, then its fallbacks, without blocked ones and without models that are not granted. If empty, see `noModel`. */
export function callableModels(configSnapshot: Models, principal: Principal, name: string): readonly Model[] {
  const model = configSnapshot.models.get(name);
  if (model === undefined) return none;
  const cache = cacheOf(principal);
  let cached = cache.get(model);
  if (cached === undefined || cached.configSnapshot !== configSnapshot) {
    cached = { configSnapshot, models: findModels(configSnapshot, principal, model) };
    cache.set(model, cached);
  }
  return cached.models;
}

const none: readonly Model[] = [];

/** By principal and model. Both are new objects with each config snapshot. */
const cacheOf = oncePerObject(
  (_: Principal) => new WeakMap<Model, { readonly configSnapshot: Models; readonly models: readonly Model[] }>(),
);

function findModels(configSnapshot: Models, principal: Principal, model: Model): readonly Model[] {
  const isUsable = (one: Model) => !isBlocked(one, principal) && mayCall(principal, one.name);
  if (!isUsable(model)) return none;
  const fallbacks = model.fallbacks.flatMap((name) => configSnapshot.models.get(name) ?? []);
  return [model, ...fallbacks.filter(isUsable)];
}

export function isCallable(configSnapshot: ConfigSnapshot, principal: Principal, name: string): boolean {
  return configSnapshot.models.has(name) && mayCall(principal, name);
}

/** Why no model can be called. The error is the same for a model that is not granted and one that does not exist. */
export function noModel({ models }: ConfigSnapshot, principal: Principal, name: string): Failure {
  const model = models.get(name);
  const param = "model";
  if (model === undefined || !mayCall(principal, name) || !isBlocked(model, principal)) {
    const message = `The model "${name}" does not exist or is not available to this API key.`;
    return new Failure("model_not_found", message, { param });
  }
  const message = `The model "${name}" has no price, so no budget can count what its calls cost. Ask the gateway's administrator to set its price, or to allow calls of it without one.`;
  return new Failure("model_not_priced", message, { param });
}

/** The same with the reason that the request's explanation shows. */
export function refusalOf(configSnapshot: ConfigSnapshot, principal: Principal, name: string): [Failure, string] {
  const failure = noModel(configSnapshot, principal, name);
  if (failure.code === "model_not_found") return [failure, whyNotFound(principal, name)];
  return [failure, `The model "${name}" has no price, and neither it nor the settings allow that to this key.`];
}

/**
 * The caller does not see this: which level does not grant the model. If a grant is missing, the text is the same whether or not the
 * model exists.
 */
function whyNotFound(principal: Principal, model: string): string {
  const level = deniedBy(principal, model);
  if (level === null) return `There is no model called "${model}".`;
  return `${holderOf(principal, level)} is not granted the model "${model}".`;
}

/** The holder of a grant, by name. */
export function holderOf({ workspace, group, key }: Principal, level: "workspace" | "group" | "key"): string {
  if (level === "workspace") return `The workspace ${workspace.slug}`;
  return level === "group" ? `The group ${group.name}` : `The key ${key.name}`;
}
