import {
  axesOf,
  type Catalog,
  findByModelName,
  type Outcome,
  type PriceTerms,
  type PriceVersion,
  type Served,
  tokensOf,
  type Usage,
} from "#core/index.ts";
import type { AttemptFields, Recorder } from "#ledger/index.ts";
import type { Measured } from "./measured-usage.ts";
import { soldAt } from "./sold-models.ts";

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
    const known = findByModelName(soldAt(catalog, attempt.provider), model);
    const price = (known?.model ?? catalog.models.get(attempt.model))?.price ?? null;
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
