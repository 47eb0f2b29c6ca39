import type { CallSignal, EgressProxy, Failure, HeaderReader, Secret } from "#core/index.ts";

/** Sends every outbound request. Throws `Failure`s, which say which timeout or which step failed. */
export interface Transport {
  /**
   * Sends a request. Resolves when the status line has arrived. Throws upstream_unreachable (name, guard, connection) or
   * upstream_timeout (connect, headers); the failure's `arrival` says how far the request got. Never follows a
   * redirect, never sends twice.
   * `signal` ends it at once, also later while the body is read.
   */
  send(request: OutboundRequest, signal: CallSignal): Promise<OutboundAnswer>;
  /** The same, with the outcome passed to `listener`, perhaps within this call. Absent: `send` is all there is. */
  begin?(request: OutboundRequest, signal: CallSignal, listener: AnswerListener): void;
}

/** One of the two is called, once. */
export interface AnswerListener {
  /** The head has come, and whatever came with it is in the body already. */
  onAnswer(answer: OutboundAnswer): void;
  onFailure(failure: Failure): void;
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
  /** It goes to an address that a caller wrote, for whom an administrator may have opened private places by name. */
  readonly webhook?: boolean;
  /** What the connections of this account have of their own; left out: nothing. */
  readonly network?: OutboundNetwork | undefined;
  /** Use a new connection. A kept one may be closed by the upstream, and then it is unknown whether the request was read. */
  readonly ownConnection?: boolean;
}

/** How the connections of one account differ from all others. */
export interface OutboundNetwork {
  /** Equal for two that are equal: connections are kept by it. */
  readonly id: string;
  /** undefined: as the environment says; null: none. */
  readonly proxy?: EgressProxy | null;
  /** Certificate authorities (PEM) that are believed beside the usual ones. */
  readonly authorities?: readonly string[];
  /** What this account shows of itself (PEM). */
  readonly client?: { readonly certificate: string; readonly key: Secret };
}

/** The body: bytes, a list of pieces, or a stream. */
export type OutboundBody = Uint8Array | readonly Uint8Array[] | OutboundStream;

/** A body that is not in memory. It is opened when the request is sent, and read as fast as the upstream takes it. */
export interface OutboundStream {
  /** Sent as the content length. A stream of another length is an internal error. */
  readonly size: number;
  open(): ReadableStream<Uint8Array>;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: AnswerBody;
}

/** The name of the timeout of a read, for the failure. */
export type ReadClock = "first_event" | "idle" | "total";

/** Is told of the next piece of a body, of its clean end (null), or of what it failed of. */
export interface PieceListener {
  resolve(piece: Uint8Array | null): void;
  reject(thrown: unknown): void;
}

/** The body of an answer. It is read only on request; an unread body slows the upstream down. One read at a time. */
export interface AnswerBody {
  /** The next piece, or null at a clean end. Throws upstream_truncated on a cut, upstream_timeout after `limitMs`. */
  read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null>;
  /** The next piece where it is here already; null: `read` says what there is. */
  here?(): Uint8Array | null;
  /** As `read`, but told to `listener`, perhaps within this call. Not again before that. Absent: `read` is all there is. */
  next?(clock: ReadClock, limitMs: number, listener: PieceListener): void;
  /**
   * The whole rest. Throws upstream_error when larger than `bytesMax`. `grown` is told how much is here each time there is more,
   * and may throw; then whoever reads cancels.
   */
  readAll(bytesMax: number, clock: ReadClock, limitMs: number, grown?: (bytes: number) => void): Promise<Uint8Array>;
  /** The whole rest where all of it is here already, not larger than `bytesMax`; else null, and nothing was read. */
  arrived?(bytesMax: number): Uint8Array | null;
  /** Stops reading. The connection is closed unless the body had ended. Never throws. */
  cancel(): void;
}
