import type { UnpricedPolicy } from "@sluice/contract/config-file";
import type { ModelTypeName } from "@sluice/contract/words";
import type { PriceVersion } from "./price.ts";
import type { Secret } from "./secret.ts";
import type { VideoCapabilities } from "./turn.ts";

export type ModelType = ModelTypeName;

/** The clocks of one attempt, each separate, in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** From sending to the upstream's status line, which some send when the model has thought, or the whole answer is made. */
  readonly headersMs: number;
  /** From the status line to the first whole event (streams) or the first body byte. */
  readonly firstEventMs: number;
  /** Between two pieces of a body. */
  readonly idleMs: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

/** A model may think for minutes ahead of its first content. The SDKs of OpenAI and Anthropic wait for ten. */
const thinkingMs = 600_000;

export const defaultTimeouts: Timeouts = Object.freeze({
  connectMs: 5_000,
  headersMs: thinkingMs,
  firstEventMs: thinkingMs,
  idleMs: thinkingMs,
  totalMs: 1_800_000,
});

/** What to do with the upstream when the caller goes away. */
type DisconnectPolicy = "cancel" | "drain";

/** One upstream account. */
export interface Provider {
  readonly id: string;
  readonly kind: string;
  readonly baseUrl: string;
  readonly secret: Secret | null;
  readonly allowPrivateNetwork: boolean;
  readonly timeouts: Timeouts;
  readonly disconnect: DisconnectPolicy;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly enabled: boolean;
}

/** model × provider × the name the upstream knows. Lower priority number is tried first; weight spreads equals. */
export interface Deployment {
  readonly id: string;
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  /** Tokens of input and output together: as its model's configuration says, else as the price list does. null: not known. */
  readonly contextWindow: number | null;
  /** Of a video model: what it takes, over what its kind knows. */
  readonly capabilities?: Partial<VideoCapabilities>;
}

/** A public name callers use. `createdAt` is Unix seconds. */
export interface Model {
  readonly name: string;
  readonly type: ModelType;
  readonly ownedBy: string;
  readonly createdAt: number;
  readonly deployments: readonly Deployment[];
  readonly fallbacks: readonly string[];
  /** What a call without a limit of its own may at most produce, in tokens; null: nobody has said it. */
  readonly outputTokensMax?: number | null;
  /** The largest known context window of its deployments, in tokens; null: none is known. */
  readonly contextWindow: number | null;
  /** The version in force; null when nobody has set a price (cost is then 0 and the entry says so). */
  readonly price: PriceVersion | null;
  /**
   * When it must not be called, although it is there: it has no price, and nobody has allowed that. Never, or not by callers
   * whose calls a budget counts.
   */
  readonly blocked?: "always" | "in_budgets";
  /** It has a price, and what that leaves out (searches) must not be asked for by callers whose calls a budget counts. */
  readonly isPricedWhole?: true;
}

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
