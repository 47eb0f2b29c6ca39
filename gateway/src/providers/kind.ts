import type {
  CostSource,
  EndpointId,
  Failure,
  HeaderReader,
  ModelType,
  PriceFactor,
  Provider,
  WireDialectId,
} from "#core/index.ts";
import type { DialectTraits, MemberRules, Warn } from "#protocols/index.ts";
import type { AssetLibrary } from "./assets/volcengine-library.ts";
import type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";
import type { ReasoningRule } from "./reasoning/reasoning-rule.ts";
import type { KindForm } from "./setting-field.ts";
import type { VideoAdapter } from "./video-adapter.ts";

export type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";

/** One way into an upstream: what is spoken at which path below the base URL. */
export interface Lane {
  readonly endpoint: EndpointId;
  readonly dialect: WireDialectId;
  /** `{model}` in it stands for the upstream's model name, percent-encoded whole. */
  readonly path: string;
  /** Where streams have a path of their own. */
  readonly streamPath?: string;
  /** For a lane that stands beside the others' base URL instead of below it: its own, from theirs. */
  rootOf?(root: string): string;
  /** How a stream's events are framed; a framing other than SSE is turned into SSE before anyone listens. */
  readonly framing?: "sse" | "aws-event-stream";
  readonly traits?: DialectTraits;
  /** The dialect of its refusals, where that is not the lane's own (a cloud in front of another vendor's models). */
  readonly errorDialect?: WireDialectId;
  /** Tokens of the input as a header of the answer tells them, where its body does not. */
  inputTokensIn?(headers: HeaderReader): number | null;
  /** Offered only where `settings.endpoints` names it: a server of this kind may have it, most have not. */
  readonly onlyWhenNamed?: true;
  /** For a model that this lane does not fit (Bedrock: other vendors' models). Absent: fits all. */
  fits?(upstreamModel: string): boolean;
  /** What an account's settings say otherwise than `traits`. */
  traitsOf?(provider: Provider): DialectTraits;
  /** Last changes to a request of this lane before it is authorised. `warn` hears what the caller would miss. */
  adjust?(draft: OutboundDraft, warn?: Warn): void;
  /** It looks into what a body holds, not only at its members: a larger one is changed in a thread. */
  readonly walks?: true;
  /** Whether this account's requests are to be changed. Default: all are. */
  adjusts?(provider: Provider): boolean;
}

/** What a signature needs beside the request. `now` is Unix milliseconds; `token` as `tokenRequest` brought it. */
export interface AuthorizeOptions {
  readonly now: number;
  readonly token: string | null;
}

/** How a short-lived token is had (Vertex): described here, sent by the relay, kept until shortly before its end. */
export interface TokenExchange {
  /** null when the account needs none. `now` is Unix milliseconds. */
  request(provider: Provider, now: number): Promise<OutboundDraft> | OutboundDraft | null;
  /** Throws Failure upstream_error when the answer holds no token. `expiresInMs` counts from now. */
  read(status: number, body: Uint8Array): { readonly token: string; readonly expiresInMs: number };
}

/** A model that a new installation offers when it finds this kind's key. Its price is the price list's. */
export interface StarterModel {
  readonly name: string;
  /** Default: it talks. */
  readonly type?: ModelType;
}

/** What is particular to one kind of upstream: data and pure functions. Sending is the transport's. */
/** Of `KindForm` it has what a form for its accounts asks beyond an API key. */
export interface ProviderKind extends Partial<KindForm> {
  readonly id: string;
  readonly title: string;
  /** null: an operator must say where it is. */
  readonly baseUrl: string | null;
  /** Environment variables that make a provider of this kind at first start. */
  readonly envKey: string | null;
  readonly envBaseUrl: string | null;
  /**
   * In the order in which they are natural to the vendor: a call that must be translated takes the first lane that is
   * a model call. `settings.endpoints` of a provider (a list of endpoint names) restricts them.
   */
  readonly lanes: readonly Lane[];
  /** What is wrong with a provider's settings, in one sentence that names the setting; null when nothing is. */
  checkSettings?(provider: Provider): string | null;
  /** The base URL for an account that set none of its own and whose settings decide it (a region, a resource). */
  baseUrlOf?(provider: Provider): string | null;
  /** The base URL that lanes stand below, for the other forms in which operators write it. Default: as it is. */
  rootOf?(provider: Provider): string;
  /** GET /models below its base URL is not there, so that nobody asks. */
  readonly listsModels?: false;
  /** What is asked for with it, where a list is short without (`limit=1000`). */
  readonly modelsQuery?: string;
  /** Members of a body that choose a model or multiply a cost, where this vendor differs from what is common. */
  readonly memberRules?: MemberRules;
  /** What answers cost that were not served the plain way, ahead of what is usual. A model's own price variants count before. */
  readonly priceFactors?: readonly PriceFactor[];
  /** `vendor`: where an answer says what it cost, that is booked. Default `price`. */
  readonly costSource?: CostSource;
  /** See PriceTerms. */
  readonly routers?: RegExp;
  /** Its uploads stand beside the base URL's version: `/upload/v1beta/files` beside `/v1beta`. */
  readonly uploadsBesideVersion?: true;
  /** It keeps the message threads of the Messages API. Default: it does not. */
  readonly keepsThreads?: true;
  readonly reasoning?: readonly ReasoningRule[];
  /** Headers of a caller that this vendor's clients depend on, beside those of its dialects' families. `x-*` as well. */
  readonly callerHeaders?: readonly string[];
  readonly tokens?: TokenExchange;
  /** Its credential is a signature over the body too: a body that is passed through is held for it, and sent in one piece. */
  readonly signsBody?: true;
  readonly video?: VideoAdapter;
  readonly library?: AssetLibrary;
  /** Puts the account's credential on a request that is about to be sent, as the last thing before sending. */
  authorize(draft: OutboundDraft, options: AuthorizeOptions): void | Promise<void>;
  /** A bad answer as a Failure that says what may be retried. */
  classify(answer: BadAnswer): Failure;
  readonly starterModels: readonly StarterModel[];
}
