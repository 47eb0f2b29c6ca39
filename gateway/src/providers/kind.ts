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
import type { CredentialContext, Issued, ShortLived } from "#credentials/index.ts";
import type { DialectTraits, MemberRules, Warn } from "#protocols/index.ts";
import type { AssetLibrary } from "./assets/volcengine-library.ts";
import type { BatchAdapter } from "./batch-adapter.ts";
import type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";
import type { ReasoningRule } from "./reasoning/reasoning-rule.ts";
import type { KindForm } from "./setting-field.ts";
import type { VideoAdapter } from "./video-adapter.ts";

export type { BadAnswer, OutboundDraft } from "./outbound-draft.ts";

/** A path of an upstream with its endpoint and dialect. */
export interface Lane {
  readonly endpoint: EndpointId;
  readonly dialect: WireDialectId;
  /** `{model}` is replaced by the upstream's model name, encoded as one segment. */
  readonly path: string;
  /** The path for streams, if it differs. */
  readonly streamPath?: string;
  /** The lane's own root, derived from the base URL of the other lanes. */
  rootOf?(root: string): string;
  /** Framing of stream events; others are converted to SSE. */
  readonly framing?: "sse" | "aws-event-stream";
  readonly traits?: DialectTraits;
  /** The dialect of refusals if it differs, as for a cloud in front of another vendor's models. */
  readonly errorDialect?: WireDialectId;
  /** Input tokens from an answer's headers if its body does not report them. */
  inputTokensIn?(headers: HeaderReader): number | null;
  /** Used only if `settings.endpoints` lists it, because most servers of this type lack it. */
  readonly onlyWhenNamed?: true;
  /** Whether the lane serves a model. Absent: all models. */
  fits?(upstreamModel: string): boolean;
  /** Traits from the account's settings; they override `traits`. */
  traitsOf?(provider: Provider): DialectTraits;
  /** Changes a request before it is authorized. `warn` reports what the caller would miss. */
  adjust?(draft: OutboundDraft, warn?: Warn): void;
  /** `adjust` scans nested values, so large bodies are changed in a thread. */
  readonly walks?: true;
  /** Whether requests of this account need `adjust`. Default: all do. */
  adjusts?(provider: Provider): boolean;
}

/** `now` is Unix milliseconds; `token` comes from the kind's token source. */
export interface AuthorizeOptions {
  readonly now: number;
  readonly token: ShortLived | null;
}

/**
 * How an account gets a short-lived credential; null if it needs none. The provider client calls the result for each new
 * credential, and caches it.
 */
export type TokenSource = (provider: Provider) => ((context: CredentialContext) => Promise<Issued>) | null;

/** A model that a new installation offers if it finds a key of this provider type. */
export interface StarterModel {
  readonly name: string;
  /** Default: chat. */
  readonly type?: ModelType;
}

/** A provider type as data and pure functions. */
export interface ProviderKind extends Partial<KindForm> {
  readonly id: string;
  readonly title: string;
  /** null: the operator must set it. */
  readonly baseUrl: string | null;
  /** Environment variables that create a provider at first start. */
  readonly envKey: string | null;
  readonly envBaseUrl: string | null;
  /** In the vendor's preferred order: a translated call uses the first model lane. `settings.endpoints` restricts them. */
  readonly lanes: readonly Lane[];
  /** A problem with the settings, as a sentence with the setting's name; null if there is none. */
  checkSettings?(provider: Provider): string | null;
  /** The base URL that follows from settings such as a region, if the account sets none. */
  baseUrlOf?(provider: Provider): string | null;
  /** Normalizes the base URL. Default: unchanged. */
  rootOf?(provider: Provider): string;
  /** GET /models does not exist. */
  readonly listsModels?: false;
  /** A query for full pages, such as `limit=1000`. */
  readonly modelsQuery?: string;
  /** Rules for fields that select a model or raise the cost, where they differ from the common ones. */
  readonly memberRules?: MemberRules;
  /** Price factors of this vendor, before the common ones. A model's own price variants come first. */
  readonly priceFactors?: readonly PriceFactor[];
  /** `vendor`: charge the cost that the answer reports. Default: `price`. */
  readonly costSource?: CostSource;
  /** See PriceTerms. */
  readonly routers?: RegExp;
  /** Uploads are at `/upload/v1beta/files`, not below the version of the base URL. */
  readonly uploadsBesideVersion?: true;
  /** It stores message threads of the Messages API. */
  readonly keepsThreads?: true;
  readonly reasoning?: readonly ReasoningRule[];
  /** Headers that this vendor's clients need, in addition to its dialects' own. Also `x-*`. */
  readonly callerHeaders?: readonly string[];
  readonly tokens?: TokenSource;
  /** The signature covers the body, so a pass-through body is buffered. */
  readonly signsBody?: true;
  readonly video?: VideoAdapter;
  /** Absent: the vendor has no batches, or they are not used. */
  readonly batches?: BatchAdapter;
  readonly library?: AssetLibrary;
  /** Adds the credential, the last step before sending. */
  authorize(draft: OutboundDraft, options: AuthorizeOptions): void | Promise<void>;
  /** Turns a bad answer into a Failure with its retry rule. */
  classify(answer: BadAnswer): Failure;
  readonly starterModels: readonly StarterModel[];
}
