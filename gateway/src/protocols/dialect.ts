import type { CountedUse, DialectId, Failure, LimitHeader, Served, UpstreamObjectKind, Usage } from "#core/index.ts";
import type { Edit } from "./json/bytes.ts";
import type { Span } from "./json/cursor.ts";
import type { ConversationSpans } from "./request/conversation-prefix.ts";
import type { MediaByUrl } from "./request/media.ts";
import type { NamedObject } from "./request/named-objects.ts";
import type { ServerToolUse, UsageConvention } from "./usage/reading.ts";

/** Facts that the gateway reads from a request body without parsing it. */
export interface RequestFacts {
  readonly model: string;
  /** Null if the model is in the path or in another part of the form. */
  readonly modelSpan: Span | null;
  readonly stream: boolean;
  /** The caller asked for usage in the stream. True in dialects that always send it. */
  readonly wantsUsage: boolean;
  /** The caller's cap times the number of choices. Null if there is none. */
  readonly outputTokensMax: number | null;
  /** Answers requested at once. Default 1. Included in `outputTokensMax`. */
  readonly choices?: number | undefined;
  /** Estimated input tokens: one for every four bytes of text. */
  readonly inputEstimate: number;
  /** Upper bound of the input where the body's size is not one (audio). */
  readonly inputTokensMax?: number;
  readonly streamOptionsSpan: Span | null;
  /** Cache key or session: calls that share it prefer one deployment. */
  readonly affinity: string | null;
  /** The member into which coding agents write their session (`metadata.user_id`, `prompt_cache_key`). Most requests have none. */
  readonly agentKey?: string;
  /** The range that identifies the conversation, for calls without `affinity`. */
  readonly conversation?: ConversationSpans;
  /** The upstream object that this call continues (previous_response_id). Only its account has it. */
  readonly continues: NamedObject | null;
  /** The kind of object that the upstream stores the answer as. */
  readonly storesAs: UpstreamObjectKind | null;
  /** The upstream finishes the answer even if the caller disconnects. */
  readonly background?: boolean;
  /** Members of the body that choose a model or raise the cost; see `governedMembers`. */
  readonly governed?: readonly string[] | undefined;
  /** Expected use of the upstream's own tools that the call declares. */
  readonly serverTools?: ServerToolUse | undefined;
  /** Expected input of tools that the upstream runs. */
  readonly hostedInput?: HostedInput | undefined;
  /** Upstream objects that the body names, other than `continues`. */
  readonly objects?: readonly NamedObject[] | undefined;
  /** Every call is a web search, which the upstream may not count (chat's `web_search_options`). */
  readonly requestsSearch?: boolean | undefined;
  /** Further models that the body names. */
  readonly namedModels?: readonly NamedModel[] | undefined;
  /** A container of a tool may reach hosts. */
  readonly opensNetwork?: true | undefined;
  /** For answers that may report no usage. */
  readonly estimatedUse?: UseEstimate | undefined;
  /** Pictures requested; 0 if the endpoint makes none. */
  readonly images: number;
  /** A nested member may hold media or a URL of media. Absent: not checked. */
  readonly mayHoldMedia?: boolean;
  /** Media that the upstream downloads. */
  readonly mediaByUrl?: MediaByUrl | undefined;
}

/** A model named by a tool or a moderation setting. */
export interface NamedModel {
  /** The member that names it. */
  readonly param: string;
  readonly model: string;
}

/** Expected input that tools run by the upstream add to a call; see `hostedTools`. */
export interface HostedInput {
  /** Input tokens. */
  readonly tokens: number;
  /** Pictures drawn by another model of the upstream. */
  readonly pictures: number;
}

/** Use other than tokens, pictures and tools: characters, seconds, search units. */
interface UseEstimate {
  /** Charged if the upstream reports nothing. */
  readonly likely: CountedUse;
  /** Held against budgets. */
  readonly most: CountedUse;
}

/** For dialects with the model in the path (Gemini). */
export interface PathFacts {
  readonly model: string;
  readonly stream: boolean;
}

/** Token classes as reported, with the vendor's own object. */
export interface UsageReading {
  readonly usage: Usage;
  readonly raw: string;
  /** The side that the upstream did not report; it is 0 in `usage`. */
  readonly missingSide?: "input" | "output" | "both" | undefined;
  /** Use of other models within the call, not included in `usage`. */
  readonly others?: readonly OtherUsage[];
}

export interface OtherUsage {
  /** The upstream's name of the model; empty if unknown. */
  readonly model: string;
  readonly usage: Usage;
}

/** Facts read from a complete reply. */
export interface ReplyFacts {
  readonly usage: UsageReading | null;
  readonly served?: Served | undefined;
  /** Set if a 200 response carries an error instead of an answer. */
  readonly errorMessage: string | null;
  /** Estimated output tokens, for replies without usage. */
  readonly outputEstimate: number;
  /** The upstream's id of the answer. */
  readonly id: string | null;
  /** State of a background answer: `queued`, `completed`. Absent in dialects without background answers. */
  readonly status?: string | null;
  /** Ids of objects created on the way that later calls may name: containers, audio. */
  readonly createdIds?: readonly string[];
  /** Ids of the answer's items, where later calls may name them. */
  readonly items?: readonly string[];
}

/**
 * Watches a stream as it passes. `push` returns the whole events to send to the caller, unchanged; a partial event is held, up to
 * bounds.imageEventBytesMax.
 */
export interface StreamTap {
  push(chunk: Uint8Array): Uint8Array;
  /** The remaining pieces of a large event, to send after the bytes that `push` returned. */
  takeMore?(): readonly Uint8Array[];
  /** Bytes held of a partial event. */
  readonly held?: number;
  /** Data events seen, without comments and pings. */
  readonly events: number;
  /** The terminal event has arrived; later bytes are ignored. */
  readonly ended: boolean;
  readonly usage: UsageReading | null;
  readonly served?: Served | undefined;
  /** `usage` is final; false while it holds only what was reported at the start. */
  readonly usageFinal: boolean;
  /** An error event of the upstream, already sent to the caller. */
  readonly failure: Failure | null;
  /** The error was not in this dialect, so the caller could not read it. */
  readonly errorUnreadable?: boolean;
  /** Output tokens so far, estimated. */
  readonly outputEstimate: number;
  /** Generated content has arrived. */
  readonly contentSeen: boolean;
  /** The upstream's id of the answer, once seen. */
  readonly id: string | null;
  readonly createdIds?: readonly string[];
  readonly items?: readonly string[];
  /** Whether the stream had everything its dialect requires. Called after a clean end. */
  complete(): boolean;
  /** Bytes that are still to be sent after a complete end. */
  rest(): Uint8Array;
  /** The dialect is unknown: nothing may be inserted, and a failure breaks the connection. */
  readonly isRaw?: boolean;
  /** Replaces the rest by a failure, for streams that number their events. */
  breakOff?(failure: Failure): Uint8Array;
}

/** Reads the answers of an upstream on one endpoint. */
export interface ReplyReader {
  /** `convention`: how the upstream counts tokens. Throws Failure upstream_error if the body is not a reply of this dialect. */
  readReply(body: Uint8Array, convention?: UsageConvention): ReplyFacts;
  /** `hideUsage`: drop the usage event that the caller did not ask for. */
  tapStream(hideUsage: boolean, convention?: UsageConvention): StreamTap;
  /** For endpoints whose answers are usually neither JSON nor events. */
  tapBytes?(facts: RequestFacts, mediaType: string): StreamTap;
}

/** Reads requests of one endpoint and passes them on byte for byte, except for the model. */
export interface Wire extends ReplyReader {
  /** Throws Failure invalid_json, missing_required_parameter or invalid_request. `path`: see PathFacts. */
  readRequest(body: Uint8Array, path: PathFacts | null): RequestFacts;
  /** Edits for the upstream, in order: the model, and a request for usage. Empty if the body is sent as it is. */
  requestEdits(body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[];
  /** The cheapest request, for testing an account. Absent if the body is not JSON or costs too much. */
  smallestRequest?(model: string): object;
  /** Finding its edits takes a scan of the whole body. */
  readonly scansForEdits?: true;
}

export interface FormFacts {
  readonly facts: RequestFacts;
  readonly modelSpan: Span;
}

/** An upstream's refusal (4xx), as far as it can be translated. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  /** The prompt exceeds the model's context. */
  readonly contextLength: boolean;
}

/** How errors, limits and keep-alives look to callers of a dialect. */
export interface Dialect {
  readonly id: DialectId;
  /** A refusal in the caller's own shape passes unchanged. */
  readonly errorShape: "openai" | "anthropic" | "google" | "interactions" | "aws";
  /** The body of an error answer. */
  renderError(failure: Failure, requestId: string): string;
  /** An error within a stream, as a whole event. */
  renderStreamError(failure: Failure, requestId: string): string;
  /** The same for clients that expect it in a separate write. */
  renderBareError?(failure: Failure, requestId: string): string;
  /** Reads a refusal in this error shape. Never throws. */
  readRefusal(status: number, body: Uint8Array): UpstreamRefusal;
  /** The error body for a refusal in another shape; the status stays. */
  renderRefusal(refusal: UpstreamRefusal, requestId: string): string;
  /** Sent during long silence. */
  readonly keepAlive: string;
  /** Adds the rate limit headers to `out`. `now` is Unix milliseconds. */
  addLimitHeaders(out: Record<string, string>, unit: "requests" | "tokens", header: LimitHeader, now: number): void;
}
