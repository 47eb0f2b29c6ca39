import {
  type Catalog,
  type Model,
  type Outcome,
  type PriceTerms,
  type PriceVersion,
  type Served,
  tokensOf,
  type Usage,
  withoutCost,
} from "#core/index.ts";
import type { AttemptFields, Recorder } from "#ledger/index.ts";
import type { Measured } from "./measured-usage.ts";

interface Books {
  readonly catalog: () => Catalog;
  readonly recorder: Recorder;
}

/**
 * What other models used within one answer (an adviser that the upstream asked): an entry each beside the attempt's own, before that, at
 * the price of the model of ours that leads to it. One that no name of ours leads to costs what the call's own model costs:
 * nothing is free because nobody knows it. Gives the tokens.
 */
export function bookOthers(
  dependencies: Books,
  attempt: AttemptFields,
  told: Pick<Measured, "others" | "served">,
  terms: PriceTerms,
  outcome: Exclude<Outcome, "rejected">,
): number {
  let tokens = 0;
  for (const { fields, price, usage, served } of usedByOthers(dependencies.catalog(), attempt, told)) {
    dependencies.recorder.beside(
      fields,
      { price, terms },
      {
        outcome,
        httpStatus: 200,
        upstreamStatus: null,
        errorCode: null,
        usage,
        usageSource: "upstream",
        served,
        rawUsage: null,
        firstByteMs: null,
        firstTokenMs: null,
        upstreamMs: null,
        overheadMs: null,
        upstreamId: null,
      },
    );
    tokens += tokensOf(usage);
  }
  return tokens;
}

interface UsedByOther<Fields> {
  readonly fields: Fields;
  readonly price: PriceVersion | null;
  readonly usage: Usage;
  readonly served: Served | undefined;
}

/** The same, not booked yet. */
export function usedByOthers<Fields extends AttemptFields>(
  catalog: Catalog,
  attempt: Fields,
  { others = [], served }: Pick<Measured, "others" | "served">,
): readonly UsedByOther<Fields>[] {
  return others.map(({ model, usage }) => {
    const known = modelLeadingTo(catalog, model, attempt.provider);
    const price = (known ?? catalog.models.get(attempt.model))?.price ?? null;
    const fields: Fields = {
      ...attempt,
      model: known?.name ?? attempt.model,
      deployment: known?.deployments.find((one) => one.provider.id === attempt.provider)?.id ?? attempt.deployment,
      upstreamModel: model === "" ? attempt.upstreamModel : model,
      // No request of its own: sums of requests count what has the index 0.
      retryIndex: attempt.retryIndex + 1,
      priceVersion: price?.id ?? null,
      inputEstimate: 0,
      reservedNanoUsd: 0,
    };
    return { fields, price, usage, served: withoutCost(served) };
  });
}

/** The upstream may tell a dated name where a shorter one was asked for. */
function modelLeadingTo(catalog: Catalog, upstreamModel: string, provider: string): Model | null {
  let best: Model | null = null;
  let length = 0;
  for (const model of catalog.models.values()) {
    for (const deployment of model.deployments) {
      const { upstreamModel: name } = deployment;
      if (deployment.provider.id !== provider || name.length <= length) continue;
      if (upstreamModel !== name && !upstreamModel.startsWith(`${name}-`)) continue;
      best = model;
      length = name.length;
    }
  }
  return best;
}
