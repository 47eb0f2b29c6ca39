/** The one way out. Failures are thrown as `Failure` and already say which clock or which step it was. */
export interface Transport {
  /**
   * Sends and resolves at the status line. Throws upstream_unreachable (name, guard, connection) or
   * upstream_timeout (connect, headers); the failure's `arrival` says what is known of the request. Never follows a
   * redirect, never sends twice.
   * `signal` ends it at once, also later while the body is read.
   */
  send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundAnswer>;
}

export type OutboundMethod = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface OutboundRequest {
  readonly method: OutboundMethod;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: OutboundBody | null;
  readonly connectMs: number;
  readonly headersMs: number;
  readonly totalMs: number;
  readonly allowPrivateNetwork: boolean;
  /** Not on a kept connection: one of those may be closed on us, and then nobody knows whether the request was read. */
  readonly ownConnection?: boolean;
}

/** What is sent: bytes, the same in pieces that are not put together for it, or a stream. */
export type OutboundBody = Uint8Array | readonly Uint8Array[] | OutboundStream;

/** A body that is not held: it is opened when the request is sent, and read no faster than the upstream takes it. */
export interface OutboundStream {
  /** Sent as the content length; a stream of another length is a failure of ours. */
  readonly size: number;
  open(): ReadableStream<Uint8Array>;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: AnswerBody;
}

/** Which wait is meant when a read takes too long; named in the failure. */
export type ReadClock = "first_event" | "idle" | "total";

/** A body that is only read when asked: an unread body slows the upstream. One read at a time. */
export interface AnswerBody {
  /** The next piece, or null at a clean end. Throws upstream_truncated on a cut, upstream_timeout after `limitMs`. */
  read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null>;
  /** The whole rest. Throws upstream_error when larger than `bytesMax`. */
  readAll(bytesMax: number, clock: ReadClock, limitMs: number): Promise<Uint8Array>;
  /** Lets go of the upstream: the connection is closed unless the body had ended. Never throws. */
  cancel(): void;
}
