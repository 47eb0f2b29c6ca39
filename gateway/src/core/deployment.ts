import type { ProviderConfig, UnpricedPolicy } from "@sluice/contract/config-file";
import type { ModelTypeName } from "@sluice/contract/words";
import { coversModel } from "./budget-policy.ts";
import type { BudgetPolicy } from "./limit.ts";
import type { PriceVersion } from "./price.ts";
import { Secret } from "./secret.ts";
import type { VideoCapabilities } from "./turn.ts";

export type ModelType = ModelTypeName;

/** Timeouts of one attempt in milliseconds. */
export interface Timeouts {
  readonly connectMs: number;
  /** From sending the request to the status line, which some upstreams send only after the model has finished thinking. */
  readonly headersMs: number;
  /** From the status line to the first complete event (streams) or the first byte of the body. */
  readonly firstEventMs: number;
  /** Between two pieces of a body. */
  readonly idleMs: number;
  /** The whole attempt. */
  readonly totalMs: number;
}

/** A model may think for minutes before its first output. The SDKs of OpenAI and Anthropic wait ten minutes. */
const thinkingMs = 600_000;

export const defaultTimeouts: Timeouts = Object.freeze({
  connectMs: 5_000,
  headersMs: thinkingMs,
  firstEventMs: thinkingMs,
  idleMs: thinkingMs,
  totalMs: 1_800_000,
});

/** The handling of the upstream request when the caller disconnects. */
type DisconnectPolicy = "cancel" | "drain";

/** An upstream account. */
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
  /** The secret references that its secrets were read from. */
  readonly references?: readonly string[];
  /** Why no call can be sent: a secret reference could not be read. */
  readonly unusable?: string;
}

/** A provider as it is declared, with defaults for what is left out. */
export function declaredProvider(config: ProviderConfig): Provider {
  return {
    id: config.id,
    kind: config.kind,
    baseUrl: config.base_url ?? "",
    secret: config.api_key === undefined ? null : new Secret(config.api_key),
    allowPrivateNetwork: config.allow_private_network ?? false,
    timeouts: defaultTimeouts,
    disconnect: config.disconnect ?? "cancel",
    settings: config.settings ?? {},
    enabled: config.enabled ?? true,
  };
}

/** A model at a provider under the upstream's name. Lower priority numbers are tried first; weights distribute calls among equals. */
export interface Deployment {
  readonly id: string;
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly priority: number;
  readonly weight: number;
  readonly enabled: boolean;
  /** Input and output tokens together, from the model's configuration or the price list; null if unknown. */
  readonly contextWindow: number | null;
  /** Video models only: overrides of the features of their provider type. */
  readonly capabilities?: Partial<VideoCapabilities>;
}

/** A public model name. `createdAt` is in Unix seconds. */
export interface Model {
  readonly name: string;
  readonly type: ModelType;
  readonly ownedBy: string;
  readonly createdAt: number;
  readonly deployments: readonly Deployment[];
  readonly fallbacks: readonly string[];
  /** Default limit of output tokens; null if none is set. */
  readonly outputTokensMax?: number | null;
  /** The largest context window of its deployments in tokens; null if unknown. */
  readonly contextWindow: number | null;
  /** The current price; null if none is set (the cost is then 0 and the entry records it). */
  readonly price: PriceVersion | null;
  /** Set if the model has no price and may not be called: never, or not by callers with a budget. */
  readonly blocked?: "always" | "in_budgets";
  /** It has a price that does not cover everything (searches); callers with a budget may not ask for the rest. */
  readonly isPricedWhole?: true;
}

/**
 * Applies the policy for models without a price (the model's own, else the installation's): served at zero cost, charged at another
 * model's price, or blocked, for all callers or for those with a budget. A price can be borrowed only from a model of the same type;
 * without one the model is blocked. The demo is always served.
 */
export function withoutOwnPrice(
  model: Model,
  own: string | null,
  { policy, models }: { readonly policy: UnpricedPolicy; readonly models: ReadonlyMap<string, Model> },
): Model {
  if (isDemo(model)) return model;
  const effective = own ?? policy;
  if (effective === "allow") return model;
  if (model.price !== null) return Object.freeze({ ...model, isPricedWhole: true as const });
  const lender = typeof effective === "object" ? models.get(effective.price_as) : undefined;
  if (lender !== undefined && lender.type === model.type && lender.price !== null) {
    return Object.freeze({ ...model, price: lender.price });
  }
  return Object.freeze({
    ...model,
    blocked: effective === "block_in_budgets" ? ("in_budgets" as const) : ("always" as const),
  });
}

export interface BudgetedScope {
  readonly budget: { readonly enforce?: boolean | undefined } | null;
}

interface BudgetedCaller {
  readonly scopes: readonly BudgetedScope[];
  readonly policies?: readonly BudgetPolicy[];
}

/** Whether a caller with these budgets may not call the model because it has no price. */
export function isBlocked({ name, blocked }: Model, { scopes, policies = [] }: BudgetedCaller): boolean {
  if (blocked === undefined) return false;
  if (blocked === "always" || scopes.some(({ budget }) => budget !== null && budget.enforce !== false)) return true;
  return policies.some((policy) => policy.budget.enforce !== false && coversModel(policy, name));
}

/** Whether only the built-in demo serves the model. */
export function isDemo({ deployments }: Model): boolean {
  return deployments.length > 0 && deployments.every(({ provider }) => provider.kind === "demo");
}
