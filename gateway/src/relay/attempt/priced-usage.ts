import {
  axesOf,
  type ConfigSnapshot,
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
  type PriceVersion,
  tokensOf,
  type Usage,
  usageClassColumns,
} from "#core/index.ts";
import type { AttemptFields } from "#ledger/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import type { Call } from "../call.ts";
import type { MeasuredUsage } from "./attempt-money.ts";
import type { AttemptParts } from "./call-tally.ts";

/** A model with a price, and the deployment through which one account serves it. */
export interface SoldModel {
  readonly model: Model;
  readonly deployment: Deployment;
}

/** The models that one account serves, by the upstream's names. */
interface SoldModels {
  readonly sold: Map<string, SoldModel>;
  readonly priceOf: (model: string) => PriceVersion | null;
}

/** Models with a price that an account serves, by the upstream's names. */
export function soldAt(configSnapshot: ConfigSnapshot, providerId: string): ReadonlyMap<string, SoldModel> {
  return (soldIn(configSnapshot).get(providerId) ?? nothing).sold;
}

/** For settling: the price of the model that an account's answer names. */
export function pricesAt(configSnapshot: ConfigSnapshot, providerId: string): SoldModels["priceOf"] {
  return (soldIn(configSnapshot).get(providerId) ?? nothing).priceOf;
}

/** By account. */
const soldIn = oncePerObject(({ models }: ConfigSnapshot) => {
  const accounts = new Map<string, SoldModels>();
  for (const model of models.values()) {
    if (model.price === null) continue;
    for (const deployment of model.deployments) {
      const { provider, upstreamModel } = deployment;
      const account = accounts.get(provider.id) ?? newAccount();
      accounts.set(provider.id, account);
      if (!account.sold.has(upstreamModel)) account.sold.set(upstreamModel, { model, deployment });
    }
  }
  return accounts;
});

function newAccount(): SoldModels {
  const sold = new Map<string, SoldModel>();
  return { sold, priceOf: (model) => findByModelName(sold, model)?.model.price ?? null };
}

const nothing = newAccount();

/**
 * Records the usage of other models within one answer (an adviser that the upstream called), an entry each. The price is from our model
 * for it, else from the call's model. Returns the tokens.
 */
export function recordOthers(
  { dependencies, selection }: AttemptParts,
  attempt: AttemptFields,
  used: MeasuredUsage,
  outcome: Exclude<Outcome, "rejected">,
): number {
  const terms = priceTermsOf(selection.deployment.provider);
  let tokens = 0;
  for (const { fields, price, usage, served } of usedByOthers(dependencies.configSnapshot(), attempt, used)) {
    dependencies.recorder.beside(fields, { price, terms }, { outcome, usage, served });
    tokens += tokensOf(usage);
  }
  return tokens;
}

/** The same, not recorded yet. */
export function usedByOthers<Fields extends AttemptFields>(
  configSnapshot: ConfigSnapshot,
  attempt: Fields,
  { others = [], served }: Pick<MeasuredUsage, "others" | "served">,
) {
  return others.map(({ model, usage }) => {
    const sold = findByModelName(soldAt(configSnapshot, attempt.provider), model);
    const price = (sold?.model ?? configSnapshot.models.get(attempt.model))?.price ?? null;
    const fields: Fields = {
      ...attempt,
      model: sold?.model.name ?? attempt.model,
      deployment: sold?.deployment.id ?? attempt.deployment,
      upstreamModel: model === "" ? attempt.upstreamModel : model,
      // Not a request: sums of requests count entries with the index 0.
      retryIndex: attempt.retryIndex + 1,
      priceVersion: price?.id ?? null,
      inputEstimate: 0,
      reservedNanoUsd: 0,
    };
    return { fields, price, usage, served: axesOf(served) };
  });
}

/**
 * If the caller has a budget, refuses a call that will use something without a price at a model of its plan. With `unpriced: allow` it
 * passes, and the entry is marked. Throws Failure model_not_priced.
 */
export function checkPricedUse({
  principal,
  facts,
  models,
  protocol,
}: Pick<Call, "principal" | "facts" | "models" | "protocol">): void {
  if (onlyCounts(protocol.endpoint)) return;
  const tools = requestedTools(facts);
  for (const model of models) {
    const missing = tools.length > 0 ? unpricedUse(model, tools) : unpricedWithoutTools(model);
    if (missing === null) continue;
    if (principal.scopes.every(({ budget }) => budget === null)) return;
    const isTool = tools.some((name) => name === missing);
    throw new Failure(
      "model_not_priced",
      `The price of the model "${model.name}" does not include ${usageClassColumns[missing]}, so no budget can count it. ${isTool ? "Leave the tool out, or ask" : "Ask"} the administrator of the gateway to complete the price.`,
      { param: "model" },
    );
  }
}

const chargedTools = ["webSearches", "fileSearches", "codeSessions"] as const satisfies readonly PricedClass[];
const tokens = ["inputUncached", "output"] as const satisfies readonly PricedClass[];

function requestedTools({ serverTools, requestsSearch }: RequestFacts): readonly PricedClass[] {
  if (serverTools === undefined && requestsSearch !== true) return none;
  return chargedTools.filter(
    (name) => (serverTools?.[name] ?? 0) > 0 || (name === "webSearches" && requestsSearch === true),
  );
}

/** A model may be priced by a measure other than tokens. */
const onceEach: Usage = { ...noUsage, ...Object.fromEntries(measures.map((name) => [name, 1])) };

const none: readonly PricedClass[] = [];
const unpricedWithoutTools = oncePerObject((model: Model) => unpricedUse(model, none));

/** Every answer of a chat model has input and output; for other models one of them may be free. */
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
