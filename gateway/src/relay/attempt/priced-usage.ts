import {
  axesOf,
  type ConfigSnapshot,
  type CountedClass,
  type CountedUse,
  chargeOf,
  type Deployment,
  Failure,
  findByModelName,
  type Model,
  measures,
  noUsage,
  type Outcome,
  oncePerObject,
  onlyCounts,
  type PricedClass,
  type PriceTerms,
  type PriceVersion,
  type Served,
  tokensOf,
  type Usage,
  type UsageSource,
  usageClassColumns,
} from "#core/index.ts";
import type { AttemptFields } from "#ledger/index.ts";
import {
  type OtherUsage,
  type ReplyFacts,
  type RequestFacts,
  type StreamTap,
  type UsageReading,
  withServed,
} from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import type { Call, RelayDependencies } from "../call.ts";

export interface Measured {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly others?: readonly OtherUsage[] | undefined;
  readonly served?: Served | undefined;
}

export const nothingYet: Measured = { usage: noUsage, source: "none" };

export function estimated(inputUncached: number, output: number): Measured {
  return { usage: { ...noUsage, inputUncached, output }, source: "estimated" };
}

/** Where the upstream does not say what its output is, it is the pictures. */
export function withImages(told: Measured, images: number): Measured {
  if (images === 0) return told;
  const { usage, source } = told;
  const output = usage.imageOutput === 0 ? { output: 0, reasoning: 0, imageOutput: usage.output } : {};
  return { usage: { ...usage, ...output, images }, source: source === "none" ? "estimated" : source };
}

/** The upstream's numbers, else an estimate from what was seen. */
export function measuredReply(reply: ReplyFacts, inputEstimate: () => number): Measured {
  return asServed(measured(reply.usage, reply.outputEstimate, inputEstimate), reply.served);
}

/** The same of a stream. Numbers from its start are completed by what was seen since. */
export function measuredStream(tap: StreamTap | null, inputEstimate: () => number): Measured {
  if (tap === null) return nothingYet;
  const reading = tap.usage;
  if (reading === null || tap.usageFinal)
    return asServed(measured(reading, tap.outputEstimate, inputEstimate), tap.served);
  const { usage, others } = reading;
  const output = Math.max(usage.output, tap.outputEstimate);
  // Some report zeros first and the truth at the end: an answer that was streaming had some input.
  const isReported = tokensOf(usage) > usage.output || usage.images > 0;
  const inputUncached = isReported ? usage.inputUncached : inputEstimate();
  return asServed({ usage: { ...usage, inputUncached, output }, source: "estimated", others }, tap.served);
}

/** Content came, or the usage counts more than the prompt. */
export function hasGenerated(tap: StreamTap | null): boolean {
  if (tap === null) return false;
  const counted = (tap.usage?.usage.reasoning ?? 0) + (tap.served?.vendorCostNanoUsd ?? 0);
  return tap.contentSeen || tap.usageFinal || counted > 0;
}

/** A cost that the vendor reports counts, also where it reports nothing else. */
export function asServed(told: Measured, beside: Served | undefined): Measured {
  if (beside === undefined) return told;
  const served = withServed(told.served, beside);
  const isCharged = told.source === "none" && served?.vendorCostNanoUsd !== undefined;
  return { usage: told.usage, source: isCharged ? "upstream" : told.source, others: told.others, served };
}

/** A side of which a usage says nothing is not free: it is guessed, and all of it is marked as an estimate. */
function measured(reading: UsageReading | null, outputEstimate: number, inputEstimate: () => number): Measured {
  if (reading === null) return outputEstimate === 0 ? nothingYet : estimated(inputEstimate(), outputEstimate);
  const { usage, missingSide, others } = reading;
  const output =
    missingSide === undefined || missingSide === "input" ? usage.output : Math.max(usage.output, outputEstimate);
  let { inputUncached } = usage;
  if (missingSide === "input" || missingSide === "both") {
    const cached = usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
    inputUncached = Math.max(inputUncached, inputEstimate() - cached);
  }
  if (output === usage.output && inputUncached === usage.inputUncached) return { usage, source: "upstream", others };
  return { usage: { ...usage, inputUncached, output }, source: "estimated", others };
}

/** Adds what the request says of its use and the upstream does not. Of an answer with usage only what has a price. */
export function withCounted(
  told: Measured,
  { estimatedUse }: Pick<RequestFacts, "estimatedUse">,
  model: Pick<Model, "price">,
  input: () => number,
): Measured {
  if (estimatedUse === undefined) return told;
  const silent = told.source !== "upstream";
  const missing = (Object.keys(estimatedUse.likely) as CountedClass[]).filter(
    (name) => told.usage[name] === 0 && (silent || model.price?.table[name] !== undefined),
  );
  if (missing.length === 0 && told.source !== "none") return told;
  const begun = told.source === "none" ? estimated(input(), 0) : told;
  const more = Object.fromEntries(missing.map((name) => [name, estimatedUse.likely[name] ?? 0]));
  return { ...begun, usage: { ...begun.usage, ...more }, source: "estimated" };
}

/** Adds the request itself, where the model has a price for that. Counting tokens is free. */
export function withRequest(
  told: Measured,
  { price }: Pick<Model, "price">,
  { protocol: { endpoint }, priceFloor = null }: Pick<Call, "protocol" | "priceFloor">,
): Measured {
  const isPriced = price?.table.chargedRequests !== undefined || priceFloor !== null;
  if (!isPriced || onlyCounts(endpoint)) return told;
  const source = told.source === "none" ? "estimated" : told.source;
  return { ...told, usage: { ...told.usage, chargedRequests: 1 }, source };
}

/** What an attempt that is never settled is recovered with, beside its input. null: nothing. */
export function countedIntent(
  { estimatedUse: counted, images }: Pick<RequestFacts, "estimatedUse" | "images">,
  { price }: Pick<Model, "price">,
): CountedUse | null {
  const perRequest = price?.table.chargedRequests !== undefined;
  if (counted === undefined && images === 0 && !perRequest) return null;
  return { ...counted?.likely, ...(images === 0 ? {} : { images }), ...(perRequest ? { chargedRequests: 1 } : {}) };
}

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

type Asked = Pick<Call, "principal" | "facts" | "models" | "protocol">;

/**
 * Where the caller has a budget, refuses a call that will use something without a price at a model of its plan. `unpriced: allow`
 * lets it pass, and the entry is marked. Throws Failure model_not_priced.
 */
export function checkPricedUse({ principal, facts, models, protocol }: Asked): void {
  if (onlyCounts(protocol.endpoint)) return;
  const tools = toolsAsked(facts);
  for (const model of models) {
    const missing = tools.length > 0 ? unpricedUse(model, tools) : unpricedWithoutTools(model);
    if (missing === null) continue;
    if (principal.scopes.every(({ budget }) => budget === null)) return;
    const isTool = tools.some((name) => name === missing);
    throw new Failure(
      "model_not_priced",
      `The price of the model "${model.name}" does not include ${usageClassColumns[missing]}, so no budget can count it. ${isTool ? "Leave the tool out, or ask" : "Ask"} whoever runs the gateway to complete the price.`,
      { param: "model" },
    );
  }
}

const chargedTools = ["webSearches", "fileSearches", "codeSessions"] as const satisfies readonly PricedClass[];
const tokens = ["inputUncached", "output"] as const satisfies readonly PricedClass[];

function toolsAsked({ serverTools, requestsSearch }: RequestFacts): readonly PricedClass[] {
  if (serverTools === undefined && requestsSearch !== true) return none;
  return chargedTools.filter(
    (name) => (serverTools?.[name] ?? 0) > 0 || (name === "webSearches" && requestsSearch === true),
  );
}

/** A model may be priced by a measure other than tokens. */
const onceEach: Usage = { ...noUsage, ...Object.fromEntries(measures.map((name) => [name, 1])) };

const none: readonly PricedClass[] = [];
const unpricedWithoutTools = oncePerObject((model: Model) => unpricedUse(model, none));

/** Every answer of a chat model has input and output; of other models one of them may be free. */
function unpricedUse(
  { type, isPricedWhole, price, deployments }: Model,
  tools: readonly PricedClass[],
): PricedClass | null {
  if (isPricedWhole !== true || price === null) return null;
  // A vendor's own figure has everything in it.
  if (deployments.every(({ provider }) => priceTermsOf(provider).costSource === "vendor")) return null;
  const used = type === "chat" ? [...tools, ...tokens] : tools;
  if (used.every((name) => price.table[name] !== undefined)) return null;
  return (
    chargeOf(price.table, { ...onceEach, ...Object.fromEntries(used.map((name) => [name, 1])) }).unpriced[0] ?? null
  );
}
