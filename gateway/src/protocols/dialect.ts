import type { DialectId, Failure, Usage } from "#core/index.ts";
import type { Span } from "./json-scan.ts";

/** What the gateway must know of a request body to govern it; read from the bytes without building them. */
export interface RequestFacts {
  readonly model: string;
  readonly modelSpan: Span;
  readonly stream: boolean;
  /** The caller asked for usage in the stream (always true where a dialect always sends it). */
  readonly wantsUsage: boolean;
  /** The caller's own cap on output tokens, times the number of choices; null when it set none. */
  readonly outputTokensMax: number | null;
  /** A calibrated guess at the tokens of the input, from its size. */
  readonly inputEstimate: number;
  /** Where stream options stand, for those dialects that have them. */
  readonly streamOptionsSpan: Span | null;
}

/** Token classes as reported, with the vendor's own object beside them. */
export interface UsageReading {
  readonly usage: Usage;
  readonly raw: string;
}

/** What a whole reply says of itself. */
export interface ReplyFacts {
  readonly usage: UsageReading | null;
  /** Set when a 200 carries an error instead of an answer. */
  readonly errorMessage: string | null;
  /** Size of what was generated as tokens, guessed, for replies that report no usage. */
  readonly outputEstimate: number;
}

/**
 * Listens to one stream's bytes as they pass. `push` returns the whole events among them that the caller should
 * get, unchanged; what is not yet a whole event waits inside, within bounds.eventBytesMax.
 */
export interface StreamTap {
  push(chunk: Uint8Array): Uint8Array;
  /** Data events seen, comments not counted. */
  readonly events: number;
  /** The terminal event was seen: what follows is of no interest. */
  readonly ended: boolean;
  readonly usage: UsageReading | null;
  /** An error event of the upstream; it has been passed on to the caller. */
  readonly failure: Failure | null;
  /** Output tokens so far, guessed from what was passed. */
  readonly outputEstimate: number;
  /** The first event that carried generated content was seen. */
  readonly contentSeen: boolean;
  /** At a clean end of bytes: whether the stream said all that its dialect requires. */
  complete(): boolean;
}

export interface Dialect {
  readonly id: DialectId;
  /** Throws Failure invalid_json, missing_required_parameter or invalid_request. */
  readRequest(body: Uint8Array): RequestFacts;
  /** The body for the upstream: only the model is replaced, and usage asked for where the caller did not. */
  patchRequest(body: Uint8Array, facts: RequestFacts, upstreamModel: string): Uint8Array;
  /** Throws Failure upstream_error when the bytes are not a reply of this dialect. */
  readReply(body: Uint8Array): ReplyFacts;
  /** `hideUsage`: keep the usage event that only we asked for from the caller. */
  tapStream(hideUsage: boolean): StreamTap;
  /** The body of an error answer. */
  renderError(failure: Failure, requestId: string): string;
  /** An error inside a stream that has begun, as a whole event. */
  renderStreamError(failure: Failure, requestId: string): string;
  /** Sent during long silence; clients ignore it. */
  readonly keepAlive: string;
}
