import {
  type ConfigSnapshot,
  type Deployment,
  Failure,
  isBlocked,
  type Model,
  type ReachedLimit,
} from "#core/index.ts";
import { callableModels, mayCall } from "#identity/in-thread.ts";
import type { Chance, Clock, Observer } from "#ports/index.ts";
import { type CallEndpointId, type EndpointProtocol, endpointProtocols } from "#protocols/index.ts";
import { canServeOf, serves } from "#relay/in-thread.ts";
import { type Plan, Router } from "#routing/index.ts";
import type { PastEntry } from "#storage/in-thread.ts";
import type { ChangedRoutes } from "../change/rehearsed-changes.ts";
import { withFallbacks } from "./holds.ts";
import type { PastCall } from "./past-call.ts";
import { Refusal } from "./refusal.ts";
import type { Route } from "./route.ts";

/** `recorded`: the same as then. */
type Routing = Route | Refusal | "recorded";

/**
 * Chooses the first deployment of past calls again, with the router of live calls, if the change concerns their model. All deployments
 * count as healthy. A choice by weight is the recorded one, unless the weights moved its part: so no more calls move than have to.
 */
export class Rerouting {
  readonly #models: ReadonlyMap<string, Model>;
  readonly #configSnapshot: Pick<ConfigSnapshot, "models">;
  readonly #before: ChangedRoutes;
  readonly #router: Router;
  readonly #chance = new ChosenUnit();
  /** Counted calls that another deployment answered then, because the usual one was unhealthy. */
  unhealthyCalls = 0;
  /** Models that a requested one may use: itself and its fallbacks. */
  readonly #named = new Map<string, readonly Model[]>();

  constructor(models: ReadonlyMap<string, Model>, before: ChangedRoutes, clock: Clock) {
    this.#models = models;
    this.#configSnapshot = { models };
    this.#before = before;
    this.#router = new Router({ clock, chance: this.#chance, observer: silent });
  }

  of(call: PastCall): Routing {
    const { first, isCounted } = call;
    const { requestedModel } = first;
    if (!this.#concerns(requestedModel) || first.endpoint === "pass-through") return "recorded";
    const models = this.callable(call);
    // Denied by a grant that the change does not contain.
    if (models.length === 0) return "recorded";
    const usual = this.#before.get(requestedModel) ?? this.#models.get(requestedModel);
    if (usual !== undefined && !isUsualFirst(usual, first) && offers(models, first)) {
      if (isCounted) this.unhealthyCalls++;
      return "recorded";
    }
    this.#chance.next = unitOf(this.#before.get(first.model) ?? this.#models.get(first.model), first);
    const selection = this.#plan(models, first)?.next(null) ?? null;
    if (selection === null) return noDeployment(requestedModel);
    selection.end("cancelled", 0);
    const { model, deployment } = selection;
    return isSame(model, deployment, first) ? "recorded" : { model, deployment };
  }

  /** The refusal of a call with a later attempt at a deployment that the change takes away; null: none. */
  lacks(call: PastCall, entry: PastEntry): Refusal | null {
    const { first } = call;
    if (entry === first || !this.#concerns(first.requestedModel) || entry.endpoint === "pass-through") return null;
    const models = this.callable(call);
    return models.length === 0 || offers(models, entry) ? null : noDeployment(first.requestedModel);
  }

  /** The deployment of the model that a used-up budget names; null: none, or the caller may not use it for this call. */
  substitute(call: PastCall, { fallback }: ReachedLimit): Route | null {
    const { first, caller } = call;
    const { principal } = caller;
    const model = fallback === undefined ? undefined : this.#models.get(fallback);
    if (model === undefined || isBlocked(model, principal) || !mayCall(principal, model.name)) return null;
    const [current, ...others] = this.callable(call);
    if (current === model && others.length === 0) return null;
    const protocol = protocolOf(first);
    if (protocol !== undefined && !serves([model], protocol)) return null;
    this.#chance.next = unitOf(undefined, first);
    const selection = this.#plan([model], first)?.next(null) ?? null;
    selection?.end("cancelled", 0);
    return selection === null ? null : { model: selection.model, deployment: selection.deployment };
  }

  /** The models that may serve the call now, as a live call has them. */
  callable({ first, caller, substitute }: PastCall): readonly Model[] {
    if (substitute !== null) return [substitute];
    const models = callableModels(this.#configSnapshot, caller.principal, first.requestedModel);
    return first.endpoint === "pass-through" ? models.slice(0, 1) : models;
  }

  /** The next deployment, if the budget of a provider is used up; null: the call is refused. */
  beside(call: PastCall, { isOfProvider }: ReachedLimit): Route | null {
    const { first, route } = call;
    if (isOfProvider !== true || first.endpoint === "pass-through") return null;
    call.skipped ??= new Set();
    call.skipped.add(route?.deployment.id ?? first.deployment);
    this.#chance.next = unitOf(this.#before.get(first.model) ?? this.#models.get(first.model), first);
    const plan = this.#plan(this.callable(call), first);
    if (plan === null) return null;
    const unsent = new Failure("budget_exceeded", "", { retry: "other", arrival: "unsent" });
    for (let selection = plan.next(null); selection !== null; selection = plan.next(unsent)) {
      const { model, deployment } = selection;
      selection.end("cancelled", 0);
      if (!call.skipped.has(deployment.id)) return { model, deployment };
    }
    return null;
  }

  /** As a live call has it; null: no deployment is enabled and can serve the call. */
  #plan(models: readonly Model[], entry: PastEntry): Plan | null {
    const protocol = protocolOf(entry);
    try {
      return this.#router.plan(models, protocol === undefined ? {} : { canServe: canServeOf(protocol) });
    } catch (thrown) {
      if (thrown instanceof Failure && noPlanCodes.has(thrown.code)) return null;
      throw thrown;
    }
  }

  #concerns(requested: string): boolean {
    if (this.#before.size === 0) return false;
    return this.#modelsOf(requested).some(({ name }) => this.#before.has(name));
  }

  #modelsOf(requested: string): readonly Model[] {
    let models = this.#named.get(requested);
    if (models === undefined) {
      models = withFallbacks(this.#models, requested);
      this.#named.set(requested, models);
    }
    return models;
  }
}

const noPlanCodes: ReadonlySet<string> = new Set(["no_deployment_available", "unsupported_by_model"]);

/** undefined: an endpoint that no other provider serves. */
function protocolOf({ endpoint }: PastEntry): EndpointProtocol | undefined {
  return endpointProtocols[endpoint as CallEndpointId];
}

function noDeployment(model: string): Refusal {
  return new Refusal({ scope: "model", scopeId: model, limit: "deployments" }, `model ${model}`);
}

export function isSame(model: Model, { id }: Deployment, entry: PastEntry): boolean {
  return model.name === entry.model && id === entry.deployment;
}

/** Whether one of the models has the enabled deployment of an entry. */
function offers(models: readonly Model[], entry: PastEntry): boolean {
  return models.some((model) => usable(model).some((deployment) => isSame(model, deployment, entry)));
}

function usable({ deployments }: Model): readonly Deployment[] {
  return deployments.filter(({ enabled, provider }) => enabled && provider.enabled);
}

/** Whether the entry is at a deployment that a call of the model usually tries first. */
function isUsualFirst(model: Model, entry: PastEntry): boolean {
  const protocol = protocolOf(entry);
  const all = usable(model).filter(protocol === undefined ? () => true : canServeOf(protocol));
  const first = Math.min(...all.map(({ priority }) => priority));
  return all.some((deployment) => deployment.priority === first && isSame(model, deployment, entry));
}

/** A number that draws the entry's deployment in its tier before the change: the middle of its part, moved by the request's id. */
function unitOf(model: Model | undefined, entry: PastEntry): number {
  const within = Number(BigInt.asUintN(32, Bun.hash.wyhash(entry.requestId))) / 2 ** 32;
  const own = model?.deployments.find(({ id }) => id === entry.deployment);
  if (model === undefined || own === undefined) return within;
  const tier = usable(model).filter(({ priority, weight }) => priority === own.priority && weight > 0);
  const total = tier.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  for (const { id, weight } of tier) {
    if (id === own.id) return (before + within * weight) / total;
    before += weight;
  }
  return within;
}

class ChosenUnit implements Chance {
  next = 0;

  unit(): number {
    return this.next;
  }
}

const silent: Observer = {
  log: () => undefined,
  attemptEnd: () => undefined,
  requestEnd: () => undefined,
  breakerChange: () => undefined,
  configReload: () => undefined,
};
