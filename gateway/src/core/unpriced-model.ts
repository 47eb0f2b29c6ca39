import type { UnpricedPolicy } from "@sluice/contract/config-file";
import type { Model } from "./deployment.ts";

/**
 * A model as it may be called. One without a price of its own is served at zero, is charged another model's price, or is
 * blocked: by what it says itself (`own`), else by the installation's policy. A price is borrowed from models of the same type
 * only, since others are charged by other units; where there is none to borrow, the model is blocked. The demo costs nobody
 * anything and is always served.
 */
export function withoutOwnPrice(
  model: Model,
  own: string | null,
  { policy, models }: { readonly policy: UnpricedPolicy; readonly models: ReadonlyMap<string, Model> },
): Model {
  if (model.price !== null || isDemo(model)) return model;
  const said = own ?? policy;
  if (said === "allow") return model;
  const lender = typeof said === "object" ? models.get(said.price_as) : undefined;
  if (lender !== undefined && lender.type === model.type && lender.price !== null) {
    return Object.freeze({ ...model, price: lender.price });
  }
  return Object.freeze({ ...model, blocked: "unpriced" as const });
}

/** What the built-in upstream alone serves. */
export function isDemo({ deployments }: Model): boolean {
  return deployments.length > 0 && deployments.every(({ provider }) => provider.kind === "demo");
}
