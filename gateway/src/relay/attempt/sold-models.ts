import {
  axesOf,
  type ConfigSnapshot,
  type Deployment,
  findByModelName,
  type Model,
  type Outcome,
  oncePerObject,
  type PriceTerms,
  type PriceVersion,
  tokensOf,
} from "#core/index.ts";
import type { AttemptFields } from "#ledger/index.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { Measured } from "./measured-usage.ts";

/** A model with a price, and the deployment through which one account serves it. */
export interface SoldModel {
  readonly model: Model;
  readonly deployment: Deployment;
}

/** Models with a price that an account serves, by the upstream's names. */
export function soldAt(configSnapshot: ConfigSnapshot, providerId: string): ReadonlyMap<string, SoldModel> {
  return soldIn(configSnapshot).get(providerId) ?? nothing;
}

/** For settling: the price of whatever model an account's answer names. */
export function pricesAt(configSnapshot: ConfigSnapshot, providerId: string): (model: string) => PriceVersion | null {
  return (model) => findByModelName(soldAt(configSnapshot, providerId), model)?.model.price ?? null;
}

const nothing: ReadonlyMap<string, SoldModel> = new Map();

/** By account, then by the upstream's names. */
const soldIn = oncePerObject(({ models }: ConfigSnapshot) => {
  const sold = new Map<string, Map<string, SoldModel>>();
  for (const model of models.values()) {
    if (model.price === null) continue;
    for (const deployment of model.deployments) {
      const { provider, upstreamModel } = deployment;
      const there = sold.get(provider.id) ?? new Map<string, SoldModel>();
      sold.set(provider.id, there);
      if (!there.has(upstreamModel)) there.set(upstreamModel, { model, deployment });
    }
  }
  return sold;
});

/**
 * Records what other models used within one answer (an adviser that the upstream asked), an entry each, at the price of the model of
 * ours that leads to it, else at that of the call's own. Returns the tokens.
 */
export function bookOthers(
  dependencies: Pick<RelayDependencies, "configSnapshot" | "recorder">,
  attempt: AttemptFields,
  told: Pick<Measured, "others" | "served">,
  terms: PriceTerms,
  outcome: Exclude<Outcome, "rejected">,
): number {
  let tokens = 0;
  for (const { fields, price, usage, served } of usedByOthers(dependencies.configSnapshot(), attempt, told)) {
    dependencies.recorder.beside(fields, { price, terms }, { outcome, usage, served });
    tokens += tokensOf(usage);
  }
  return tokens;
}

/** The same, not booked yet. */
export function usedByOthers<Fields extends AttemptFields>(
  configSnapshot: ConfigSnapshot,
  attempt: Fields,
  { others = [], served }: Pick<Measured, "others" | "served">,
) {
  return others.map(({ model, usage }) => {
    const known = findByModelName(soldAt(configSnapshot, attempt.provider), model);
    const price = (known?.model ?? configSnapshot.models.get(attempt.model))?.price ?? null;
    const fields: Fields = {
      ...attempt,
      model: known?.model.name ?? attempt.model,
      deployment: known?.deployment.id ?? attempt.deployment,
      upstreamModel: model === "" ? attempt.upstreamModel : model,
      // No request of its own: sums of requests count what has the index 0.
      retryIndex: attempt.retryIndex + 1,
      priceVersion: price?.id ?? null,
      inputEstimate: 0,
      reservedNanoUsd: 0,
    };
    return { fields, price, usage, served: axesOf(served) };
  });
}
