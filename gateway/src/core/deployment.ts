import type { ModelTypeName } from "@sluice/contract/words";
import type { PriceVersion } from "./price.ts";
import type { Secret } from "./secret.ts";
import type { VideoCapabilities } from "./video-turn.ts";

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
