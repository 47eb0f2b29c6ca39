import type { UnpricedPolicy } from "@sluice/contract/config-file";
import type { Model } from "./deployment.ts";

/**
 * A model as it may be called. One without a price of its own is served at zero, is charged another model's price, or is
 * blocked, for all or where a budget counts: by what it says itself (`own`), else by the installation's policy. A price is borrowed from models of the same type
 * only, since others are charged by other units; where there is none to borrow, the model is blocked. The demo costs nobody
 * anything and is always served.
 */
export function withoutOwnPrice(
  model: Model,
  own: string | null,
  { policy, models }: { readonly policy: UnpricedPolicy; readonly models: ReadonlyMap<string, Model> },
): Model {
  if (isDemo(model)) return model;
  const said = own ?? policy;
  if (said === "allow") return model;
  if (model.price !== null) return Object.freeze({ ...model, isPricedWhole: true as const });
  const lender = typeof said === "object" ? models.get(said.price_as) : undefined;
  if (lender !== undefined && lender.type === model.type && lender.price !== null) {
    return Object.freeze({ ...model, price: lender.price });
  }
  return Object.freeze({
    ...model,
    blocked: said === "block_in_budgets" ? ("in_budgets" as const) : ("always" as const),
  });
}

/** Whether a caller limited by these scopes is refused the model because it has no price. */
export function isBlocked({ blocked }: Model, scopes: readonly { readonly budget: object | null }[]): boolean {
  if (blocked === undefined) return false;
  return blocked === "always" || scopes.some(({ budget }) => budget !== null);
}

/** What the built-in upstream alone serves. */
export function isDemo({ deployments }: Model): boolean {
  return deployments.length > 0 && deployments.every(({ provider }) => provider.kind === "demo");
}
