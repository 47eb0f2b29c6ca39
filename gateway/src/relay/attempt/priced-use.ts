import { type CountedClass, Failure, type Model, pricedClasses } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import type { Call } from "../call.ts";

/**
 * Refuses a call that asks for something that a model of its plan has no price for, where a budget stands on the caller: no budget
 * could count it. As with models without any price, the operator may allow it (`unpriced: allow`); it is then marked on the entry.
 * Throws Failure model_not_priced.
 */
export function checkPricedUse({ principal, facts, models }: Pick<Call, "principal" | "facts" | "models">): void {
  const asked = feesAsked(facts);
  if (asked.length === 0 || principal.scopes.every(({ budget }) => budget === null)) return;
  for (const model of models) {
    const missing = asked.find((name) => isUnpriced(model, name));
    if (missing === undefined) continue;
    throw new Failure(
      "model_not_priced",
      `The price of the model "${model.name}" says nothing of ${words[missing]}, so no budget can count them. Leave the tool out, or ask whoever runs the gateway to set that price.`,
      { param: "model" },
    );
  }
}

const words = {
  webSearches: "web searches",
  fileSearches: "file searches",
  codeSessions: "code sessions",
} as const satisfies Partial<Record<CountedClass, string>>;

function feesAsked({ serverTools, asksSearch }: RequestFacts): readonly (keyof typeof words)[] {
  if (serverTools === undefined && asksSearch !== true) return none;
  const names = Object.keys(words) as (keyof typeof words)[];
  return names.filter((name) => (serverTools?.[name] ?? 0) > 0 || (name === "webSearches" && asksSearch === true));
}

const none: readonly (keyof typeof words)[] = [];

/** A price without any figure says that nothing costs anything; a vendor's own figure has everything in it. */
function isUnpriced({ isPricedWhole, price, deployments }: Model, name: keyof typeof words): boolean {
  const table = price?.table;
  if (isPricedWhole !== true || table === undefined || table[name] !== undefined) return false;
  if (!pricedClasses.some((each) => table[each] !== undefined)) return false;
  return deployments.some(({ provider }) => priceTermsOf(provider).costSource === "price");
}
