import type { CountedUse, DialectId, Failure, LimitHeader, Served, UpstreamObjectKind, Usage } from "#core/index.ts";
import type { Edit } from "./json/bytes.ts";
import type { Span } from "./json/cursor.ts";
import type { ConversationSpans } from "./request/conversation-prefix.ts";
import type { MediaByUrl } from "./request/media.ts";
import type { NamedObject } from "./request/named-objects.ts";
import type { ServerToolUse, UsageConvention } from "./usage/reading.ts";

/** What the gateway must know of a request body to govern it; read from the bytes without building them. */
export interface RequestFacts {
  readonly model: string;
  /** Where the model's name stands in the body; null where it does not (it is in the path, or in another part). */
  readonly modelSpan: Span | null;
  readonly stream: boolean;
  /** The caller asked for usage in the stream (always true where a dialect always sends it). */
  readonly wantsUsage: boolean;
  /** The caller's own cap on output tokens, times the number of choices; null when it set none. */
  readonly outputTokensMax: number | null;
  /** Answers asked for at once, where a dialect has that; default 1. `outputTokensMax` has them in it already. */
  readonly choices?: number | undefined;
  /** A calibrated guess at the tokens of the input, from its size: a token for each four bytes of text. */
  readonly inputEstimate: number;
  /** The most that the input can come to, where its size in bytes does not say it (sounds). */
  readonly inputTokensMax?: number;
  /** Where stream options stand, for those dialects that have them. */
  readonly streamOptionsSpan: Span | null;
  /** What holds the calls of one conversation together (a cache key, a session): they prefer one deployment. */
  readonly affinity: string | null;
  /** Where its conversation begins, for calls that say nothing that holds them together. */
  readonly conversation?: ConversationSpans;
  /** The object at the upstream that this call continues (previous_response_id): only its account knows it. */
  readonly continues: NamedObject | null;
  /** What the upstream will keep under the id of its answer, to be named later (a stored response). */
  readonly storesAs: UpstreamObjectKind | null;
  /** The upstream makes the answer whether its caller stays or leaves. */
  readonly background?: boolean;
  /** Members of the body that choose a model or multiply the cost, by the names in `choosingMembers`. */
  readonly governed?: readonly string[] | undefined;
  /** The most that the upstream's own tools, as far as the call declares them, will probably be used. */
  readonly serverTools?: ServerToolUse | undefined;
  /** What those tools, and others that the upstream runs by itself, bring as input. */
  readonly hostedInput?: HostedInput | undefined;
  /** Objects at the upstream that the body names, beside what it continues. */
  readonly objects?: readonly NamedObject[] | undefined;
  /** Each call of it is a search of the web, which the upstream may not count (chat's `web_search_options`). */
  readonly requestsSearch?: boolean | undefined;
  /** Models that the body names beside its own. */
  readonly namedModels?: readonly NamedModel[] | undefined;
  /** Where an answer may tell nothing of what it used: that is then estimated, as it is of a call that was broken off. */
  readonly estimatedUse?: UseEstimate | undefined;
  /** Pictures asked for; 0 where the endpoint makes none. */
  readonly images: number;
  /** Whether a member somewhere in the body may hold media or their address; left out where nobody has looked. */
  readonly mayHoldMedia?: boolean;
  /** Media that the upstream is to fetch from their addresses; left out: there are none. */
  readonly mediaByUrl?: MediaByUrl | undefined;
}

/** A model that a tool, or a check of the answer, has of its own. */
export interface NamedModel {
  /** The member of the body that it stands in. */
  readonly param: string;
  readonly model: string;
}

/** What the tools that an upstream runs for a call are expected to add to it (see `hostedTools`). */
export interface HostedInput {
  /** Of input. */
  readonly tokens: number;
  /** Drawn by another model of the upstream. */
  readonly pictures: number;
}

/** What a call uses beside tokens, pictures and tools: characters, seconds, search units. */
interface UseEstimate {
  /** Charged for where the upstream does not say it. */
  readonly likely: CountedUse;
  /** Held against budgets. */
  readonly most: CountedUse;
}

/** What the path says in those dialects that put it there (Gemini). */
export interface PathFacts {
  readonly model: string;
  readonly stream: boolean;
}

/** Token classes as reported, with the vendor's own object beside them. */
export interface UsageReading {
  readonly usage: Usage;
  readonly raw: string;
  /** The side that the upstream's object says nothing of, or nothing that can be understood: it counts as 0 in `usage`. */
  readonly missingSide?: "input" | "output" | "both" | undefined;
  /** What other models used within the call, which `usage` does not include: an adviser's turns. */
  readonly others?: readonly OtherUsage[];
}

/** What a model that the upstream itself asked has used. */
export interface OtherUsage {
  /** The upstream's name of it; empty where it is not told. */
  readonly model: string;
  readonly usage: Usage;
}

/** What a whole reply says of itself. */
export interface ReplyFacts {
  readonly usage: UsageReading | null;
  /** How it says it was served. Left out: nothing out of the ordinary. */
  readonly served?: Served | undefined;
  /** Set when a 200 carries an error instead of an answer. */
  readonly errorMessage: string | null;
  /** Size of what was generated as tokens, guessed, for replies that report no usage. */
  readonly outputEstimate: number;
  /** The id under which the upstream knows its answer; null when there is none. */
  readonly id: string | null;
  /** How far an answer is that may be made in the background: `queued`, `completed`. Left out where a dialect has no such thing. */
  readonly status?: string | null;
  /** Ids of what the upstream made on the way and takes again later: containers, in chat completions sounds. */
  readonly createdIds?: readonly string[];
  /** Ids of the items that the answer consists of, where later calls may name them. */
  readonly items?: readonly string[];
}

/**
 * Listens to one stream's bytes as they pass. `push` returns the whole events among them that the caller should
 * get, unchanged; what is not yet a whole event waits inside, within bounds.imageEventBytesMax.
 */
export interface StreamTap {
  push(chunk: Uint8Array): Uint8Array;
  /** What follows the bytes that were returned last: those of a large event, in pieces. Nothing where all was returned. */
  takeMore?(): readonly Uint8Array[];
  /** Bytes that wait inside for the rest of their event; 0 where nothing does. */
  readonly held?: number;
  /** Data events seen; comments and pings are not counted. */
  readonly events: number;
  /** The terminal event was seen: what follows is of no interest. */
  readonly ended: boolean;
  readonly usage: UsageReading | null;
  /** How the answer says so far it is served. Left out: nothing out of the ordinary. */
  readonly served?: Served | undefined;
  /** The numbers in `usage` are the last word; false while they are only what was known at the start. */
  readonly usageFinal: boolean;
  /** An error event of the upstream; it has been passed on to the caller. */
  readonly failure: Failure | null;
  /** It was not an error event of this dialect, so that its callers have not understood it. */
  readonly errorUnreadable?: boolean;
  /** Output tokens so far, guessed from what was passed. */
  readonly outputEstimate: number;
  /** The first event that carried generated content was seen. */
  readonly contentSeen: boolean;
  /** The id under which the upstream knows its answer, once seen. */
  readonly id: string | null;
  /** The same as far as it was seen. */
  readonly createdIds?: readonly string[];
  readonly items?: readonly string[];
  /** At a clean end of bytes: whether the stream said all that its dialect requires. */
  complete(): boolean;
  /** Called once after a complete end: what is still to be sent to the caller. Nothing where bytes pass unchanged. */
  rest(): Uint8Array;
  /** Bytes of no dialect: nothing may be put among them, and an end that is not good is a connection that breaks. */
  readonly isRaw?: boolean;
  /** A failure of ours in the place of the rest, for streams that keep count of their events. */
  breakOff?(failure: Failure): Uint8Array;
}

/** How an upstream's answers on one endpoint are listened to. */
export interface ReplyReader {
  /** `convention`: how the upstream counts. Throws Failure upstream_error when the bytes are not a reply of this dialect. */
  readReply(body: Uint8Array, convention?: UsageConvention): ReplyFacts;
  /** `hideUsage`: keep the usage event that only we asked for from the caller. */
  tapStream(hideUsage: boolean, convention?: UsageConvention): StreamTap;
  /** Of endpoints whose answers are mostly neither JSON nor events: how such bytes are listened to as they pass. */
  tapBytes?(facts: RequestFacts, mediaType: string): StreamTap;
}

/** How the bodies of one endpoint are read and passed, byte for byte but for the model. */
export interface Wire extends ReplyReader {
  /** Throws Failure invalid_json, missing_required_parameter or invalid_request. `path`: see PathFacts. */
  readRequest(body: Uint8Array, path: PathFacts | null): RequestFacts;
  /**
   * What is different in the body for the upstream, from its beginning to its end: the model, and usage that is asked for
   * where the caller did not. None: it is sent as it is.
   */
  requestEdits(body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[];
  /** The smallest request, which costs hardly anything: an account is tried with it. Absent: what is asked for is no JSON, or dear. */
  smallestRequest?(model: string): object;
  /** Its edits are looked for in the whole body, not found at places that are known already. */
  readonly scansForEdits?: true;
}

/** What governs a form, and where in the body its model's name stands. */
export interface FormFacts {
  readonly facts: RequestFacts;
  readonly modelSpan: Span;
}

/** An upstream's refusal (4xx) as far as another dialect can say it. */
export interface UpstreamRefusal {
  readonly status: number;
  readonly message: string;
  readonly code: string | null;
  /** The prompt is longer than the model can read. */
  readonly contextLength: boolean;
}

/** How a caller of a dialect is spoken to when something went wrong, and between events. */
export interface Dialect {
  readonly id: DialectId;
  /** Dialects of one vendor share the shape of errors: a refusal passes as it is between equals. */
  readonly errorShape: "openai" | "anthropic" | "google" | "aws";
  /** The body of an error answer. */
  renderError(failure: Failure, requestId: string): string;
  /** An error inside a stream that has begun, as a whole event. */
  renderStreamError(failure: Failure, requestId: string): string;
  /** The same for clients that look for it in a write of its own at the end of the stream, where some of the dialect's do. */
  renderBareError?(failure: Failure, requestId: string): string;
  /** What an upstream of this dialect's error shape refused. Never throws. */
  readRefusal(status: number, body: Uint8Array): UpstreamRefusal;
  /** The body of an error answer for what an upstream of another shape refused; the status stays. */
  renderRefusal(refusal: UpstreamRefusal, requestId: string): string;
  /** Sent during long silence; clients ignore it. */
  readonly keepAlive: string;
  /** Puts the headers that tell a caller's own limits into `out`. `now` is Unix milliseconds. */
  addLimitHeaders(out: Record<string, string>, unit: "requests" | "tokens", header: LimitHeader, now: number): void;
}
