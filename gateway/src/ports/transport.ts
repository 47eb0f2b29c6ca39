import type { CallSignal, EgressProxy, Failure, HeaderReader, Secret } from "#core/index.ts";

/** Sends all outbound requests. Throws `Failure`s that name the timeout or step. */
export interface Transport {
  /**
   * Resolves when the status line has arrived. Throws upstream_unreachable (name, guard, connection) or upstream_timeout (connect,
   * headers); the failure's `arrival` is how far the request got. Never follows redirects or sends twice. `signal` also ends reading
   * the body.
   */
  send(request: OutboundRequest, signal: CallSignal): Promise<OutboundAnswer>;
  /** Like `send`, but calls `listener`, possibly synchronously. */
  begin(request: OutboundRequest, signal: CallSignal, listener: AnswerListener): void;
}

/** Exactly one of the two is called, once. */
export interface AnswerListener {
  /** The headers have arrived; data that came with them is already in the body. */
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
  /** To the machine's own credential service, at an address of the environment or a cloud's. May be a metadata address. */
  readonly machine?: boolean;
  /** The address is a caller's; an administrator may have allowed private hosts by name. */
  readonly webhook?: boolean;
  /** Connection settings of this account. */
  readonly network?: OutboundNetwork | undefined;
  /** Use a new connection. A pooled one may be closed by the upstream, and then it is unknown whether the request was read. */
  readonly ownConnection?: boolean;
  /** Called right before the first byte is sent. If it throws, nothing is sent, and the request fails with that failure. */
  readonly beforeSending?: (() => void) | undefined;
}

/** Connection settings of one account. */
export interface OutboundNetwork {
  /** Equal for equal settings; connections are pooled by it. */
  readonly id: string;
  /** undefined: from the environment; null: none. */
  readonly proxy?: EgressProxy | null;
  /** Additional certificate authorities (PEM). */
  readonly authorities?: readonly string[];
  /** Client certificate (PEM). */
  readonly client?: { readonly certificate: string; readonly key: Secret };
}

/** Bytes, a list of pieces, or a stream. */
export type OutboundBody = Uint8Array | readonly Uint8Array[] | OutboundStream;

/** Opened when the request is sent, and read at the upstream's speed. */
export interface OutboundStream {
  /** Sent as content-length. A stream of another length is an internal error. */
  readonly size: number;
  open(): ReadableStream<Uint8Array>;
}

export interface OutboundAnswer {
  readonly status: number;
  readonly headers: HeaderReader;
  readonly body: AnswerBody;
}

/** The timeout of a read, named in the failure. */
export type ReadClock = "first_event" | "idle" | "total";

/** Receives the next piece of a body, null at its end, or its failure. */
export interface PieceListener {
  resolve(piece: Uint8Array | null): void;
  reject(thrown: unknown): void;
}

/** An unread body slows the upstream down. One read at a time. */
export interface AnswerBody {
  /** null at the end. Throws upstream_truncated, or upstream_timeout after `limitMs`. */
  read(clock: ReadClock, limitMs: number): Promise<Uint8Array | null>;
  /** The next piece if it has arrived; null: use `read`. */
  here?(): Uint8Array | null;
  /** Like `read`, but calls `listener`, possibly synchronously. Optional: `read` always works. */
  next?(clock: ReadClock, limitMs: number, listener: PieceListener): void;
  /** The rest. Throws upstream_error if larger than `bytesMax`. `grown` receives the size so far; if it throws, the caller cancels. */
  readAll(bytesMax: number, clock: ReadClock, limitMs: number, grown?: (bytes: number) => void): Promise<Uint8Array>;
  /** The rest, if it has arrived completely and is at most `bytesMax`; else null, and nothing is read. */
  arrived?(bytesMax: number): Uint8Array | null;
  /** Closes the connection unless the body has ended. Never throws. */
  cancel(): void;
}
