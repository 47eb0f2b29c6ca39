import type { DeploymentConfig, RehearsedChange } from "@sluice/contract/config-file";
import {
  type ConfigSnapshot,
  type Deployment,
  type Model,
  type PriceVersion,
  type Provider,
  pricesOf,
} from "#core/index.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";
import type { RehearsedChanges } from "./rehearsed-changes.ts";

type ModelChange = NonNullable<RehearsedChange["models"]>[number];

export type ChangedModels = Pick<RehearsedChanges, "models" | "routes" | "prices">;

export function changedModels(
  configs: readonly ModelChange[],
  { models, providers }: Pick<ConfigSnapshot, "models" | "providers">,
): ChangedModels {
  const changed = new Map(models);
  const prices = new Map<string, PriceVersion>();
  const routes = new Map<string, Model>();
  const named = new Set<string>();
  for (const [index, config] of configs.entries()) {
    const path: Path = ["models", index, "name"];
    const model = models.get(config.name) ?? unknownName(path, "model", config.name);
    if (named.has(model.name)) refuse(path, `"${model.name}" is in the change twice`);
    named.add(model.name);
    if (config.deployments !== undefined || config.fallbacks !== undefined) routes.set(model.name, model);
    for (const [at, name] of (config.fallbacks ?? []).entries()) {
      if (!models.has(name)) unknownName(["models", index, "fallbacks", at], "model", name);
    }
    const deployments = (config.deployments ?? []).map((deployment, at): Deployment => {
      const provider = providers.get(deployment.provider);
      if (provider !== undefined) return deploymentOf(model, deployment, provider);
      return unknownName(["models", index, "deployments", at, "provider"], "provider", deployment.provider);
    });
    changed.set(model.name, changedModel(model, config, deployments));
    if (config.price !== undefined) prices.set(model.name, priceOf(model.name, config.price));
  }
  for (const [name, model] of changed) {
    // A model may be charged at the price of another one.
    const price = model.price === null ? undefined : prices.get(model.price.model);
    if (price === undefined || price === model.price) continue;
    changed.set(name, { ...model, price });
  }
  return { models: changed, prices, routes };
}

function changedModel(model: Model, config: ModelChange, deployments: readonly Deployment[]): Model {
  const { price, fallbacks = model.fallbacks } = config;
  const routed = {
    ...model,
    fallbacks,
    deployments: config.deployments === undefined ? model.deployments : deployments.toSorted(byPriority),
  };
  if (price === undefined) return routed;
  const { blocked: _, ...others } = routed;
  return { ...others, price: priceOf(model.name, price) };
}

/** As the configuration is read. */
function byPriority(one: Deployment, other: Deployment): number {
  return one.priority - other.priority || (one.id < other.id ? -1 : 1);
}

/** A deployment that exists keeps its id. */
function deploymentOf(model: Model, config: DeploymentConfig, provider: Provider): Deployment {
  const upstreamModel = config.upstream_model ?? model.name;
  const existing = model.deployments.find(
    (each) => each.provider.id === provider.id && each.upstreamModel === upstreamModel,
  );
  return {
    ...{ id: existing?.id ?? `rehearsed ${provider.id}/${upstreamModel}`, provider, upstreamModel },
    ...{ priority: config.priority ?? 1, weight: config.weight ?? 100, enabled: config.enabled !== false },
    contextWindow: model.contextWindow,
  };
}

function priceOf(model: string, config: NonNullable<ModelChange["price"]>): PriceVersion {
  return { id: rehearsedPrice, model, ...pricesOf(config), effectiveFrom: 0 };
}

/** In place of an id. */
const rehearsedPrice = "prc_rehearsed";
