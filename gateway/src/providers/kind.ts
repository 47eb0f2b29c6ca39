import type { DialectId, EndpointId, Failure, Provider } from "#core/index.ts";

/** One way into an upstream: which dialect is spoken at which path below the base URL. */
export interface Lane {
  readonly dialect: DialectId;
  readonly path: string;
}

/** An upstream's refusal, with what little of it is safe and useful to read. */
export interface BadAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array;
  /** Unix milliseconds, to read a Retry-After date. */
  readonly now: number;
}

/** A model that a new installation offers when it finds this kind's key. Prices are USD per million tokens. */
export interface StarterModel {
  readonly name: string;
  readonly input: number;
  readonly cacheRead: number;
  readonly output: number;
}

/** What is particular to one kind of upstream: data and pure functions. Sending is the transport's. */
export interface ProviderKind {
  readonly id: string;
  readonly title: string;
  /** null: an operator must say where it is. */
  readonly baseUrl: string | null;
  /** Environment variables that make a provider of this kind at first start. */
  readonly envKey: string | null;
  readonly envBaseUrl: string | null;
  readonly lanes: { readonly [K in EndpointId]?: Lane };
  /** Puts the account's credential on a request that is about to be sent. */
  authorize(provider: Provider, headers: Record<string, string>): void;
  /** A bad answer as a Failure that says what may be retried. */
  classify(answer: BadAnswer): Failure;
  readonly starterModels: readonly StarterModel[];
}
