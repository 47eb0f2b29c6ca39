import {
  chargeOf,
  Failure,
  type Model,
  measures,
  noUsage,
  oncePerObject,
  onlyCounts,
  type PricedClass,
  type Usage,
  usageClassColumns,
} from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import type { Call } from "../call.ts";

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

function toolsAsked({ serverTools, asksSearch }: RequestFacts): readonly PricedClass[] {
  if (serverTools === undefined && asksSearch !== true) return none;
  return chargedTools.filter(
    (name) => (serverTools?.[name] ?? 0) > 0 || (name === "webSearches" && asksSearch === true),
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
