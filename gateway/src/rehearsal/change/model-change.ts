import type { RehearsedChange } from "@sluice/contract/config-file";
import { type ConfigSnapshot, type Model, type PriceVersion, pricesOf } from "#core/index.ts";
import { type Path, refuse, unknownName } from "./change-fault.ts";

type ModelChange = NonNullable<RehearsedChange["models"]>[number];

/** The models with the change, and the names of those with another price. */
export interface ChangedModels {
  readonly models: ReadonlyMap<string, Model>;
  /** By the model of the recorded price. */
  readonly prices: ReadonlyMap<string, PriceVersion>;
}

export function changedModels(
  configs: readonly ModelChange[],
  { models }: Pick<ConfigSnapshot, "models">,
): ChangedModels {
  const changed = new Map(models);
  const prices = new Map<string, PriceVersion>();
  const named = new Set<string>();
  for (const [index, config] of configs.entries()) {
    const path: Path = ["models", index, "name"];
    const model = models.get(config.name) ?? unknownName(path, "model", config.name);
    if (named.has(model.name)) refuse(path, `"${model.name}" is in the change twice`);
    named.add(model.name);
    changed.set(model.name, changedModel(model, config));
    if (config.price !== undefined) prices.set(model.name, priceOf(model.name, config.price));
  }
  for (const [name, model] of changed) {
    // A model may be charged at the price of another one.
    const price = model.price === null ? undefined : prices.get(model.price.model);
    if (price === undefined || price === model.price) continue;
    changed.set(name, { ...model, price });
  }
  return { models: changed, prices };
}

function changedModel(model: Model, { price }: ModelChange): Model {
  if (price === undefined) return model;
  const { blocked: _, ...others } = model;
  return { ...others, price: priceOf(model.name, price) };
}

function priceOf(model: string, config: NonNullable<ModelChange["price"]>): PriceVersion {
  return { id: rehearsedPrice, model, ...pricesOf(config), effectiveFrom: 0 };
}

/** In place of an id. */
const rehearsedPrice = "prc_rehearsed";
