import type { Socket } from "bun";
import { bounds, type CallerMemory, Failure } from "#core/index.ts";
import {
  type ByteSink,
  MalformedMessage,
  type MessageSink,
  MessageWriter,
  type RequestHead,
  RequestReader,
} from "#http1/index.ts";
import { type AnswerFraming, answerHead, continueBytes, isBodyless, linesOf, type ServerAnswer } from "./answer.ts";
import type { ConnectionClosing, CountedConnection } from "./caller-connections.ts";
import type { BodyFlow, CallerRequest } from "./caller-request.ts";
import { HeldBytes, Pace } from "./held-bytes.ts";
import { UnreadAnswer } from "./unread-answer.ts";

/** Receives the events of one request and its answer from the connection. */
export interface ServerExchange {
  /** Gets the body. */
  readonly request: CallerRequest;
  /** The head was read, and the part of the body that arrived with it was passed to the request. */
  start(): void;
  /** The body, or a message of a WebSocket, arrives too slowly. The exchange answers. */
  onSlow(): void;
  /** The caller closed its side of the connection. An answer may still reach it. */
  onCallerDone(): void;
  /** The whole answer was sent. */
  onSent(): void;
  /** The connection has ended. `slow`: because the caller read its answer too slowly. */
  onGone(slow: boolean): void;
  /** The written bytes were sent: there is room for more. */
  onRoom(): void;
  /** Bytes of a connection that became a WebSocket. */
  onRaw(bytes: Uint8Array): void;
}

/** The server, for its connections. */
export interface ConnectionHost {
  open(connection: ServerConnection, head: RequestHead): ServerExchange;
  /** The answer to a request that cannot be read, or that did not arrive in time. */
  refusal(reason: MalformedMessage["reason"] | "late", message: string): ServerAnswer;
  /** `problem`: `late`, `gone`, or the TLS library's code. */
  handshakeFailed(problem: string, address: string): void;
  /** Called before bytes are written to a caller. */
  beforeWriting(): void;
  /** Counts a connection that is closed for its caller's slowness. */
  closing(cause: ConnectionClosing): void;
  /** The tick at which so much time has passed. */
  after(ms: number): number;
  readonly idleMs: number;
  /** Milliseconds between two ticks. */
  readonly turnMs: number;
  readonly memory: CallerMemory;
  readonly secure: boolean;
  /** See `commonLines` of answer.ts. */
  commonLines(): string;
  /** Whether every answer closes its connection. */
  leaving(): boolean;
  /** Calls `flush` at the end of this turn of the event loop. */
  flushSoon(connection: ServerConnection): void;
  forget(connection: ServerConnection): void;
}

/** Bound of a TLS handshake. */
const callerHandshakeMs = 20_000;
/** Limits of a request's head and of its trailers. */
const callerHeadBytesMax = 16 * 1024;
const callerFieldsMax = 100;
/** Bytes that a caller may still send on a connection that is about to close. */
const lingerBytesMax = 8 * 1024 * 1024;
/** Extra time after a body timeout, to send the refusal. */
const bodyLateMs = 10_000;
/** Patience with a caller slower than `slowBytesPerSecond`. */
const slowSenderMs = 30_000;

type Phase = "handshake" | "idle" | "head" | "answering" | "discarding" | "lingering" | "raw" | "over";

const never = Number.POSITIVE_INFINITY;
const limits = { headBytesMax: callerHeadBytesMax, fieldsMax: callerFieldsMax };

/**
 * A caller's connection. Its requests are read and answered one at a time. Never throws. Phases:
 *
 * handshake   of TLS; nothing can be sent
 * idle        waits for a request
 * head        part of a head has arrived
 * answering   the request is being answered, while its body may still arrive
 * discarding  the answer was sent; the rest of a short body is read and dropped
 * lingering   the last answer was sent; waits for the caller to close
 * raw         another protocol
 * over        closed
 */
export class ServerConnection implements BodyFlow, ByteSink, CountedConnection, MessageSink<RequestHead> {
  readonly address: string;
  readonly secure: boolean;
  readonly unread: UnreadAnswer;
  /** Bytes that arrived after the current request. */
  readonly input: HeldBytes;
  readonly #host: ConnectionHost;
  readonly #socket: Socket<ServerConnection>;
  readonly #reader = new RequestReader(limits, this);
  readonly #writer: MessageWriter;
  #phase: Phase;
  #exchange: ServerExchange | null = null;
  #head: RequestHead | null = null;
  /** The exchange was created during a read, and starts after it. */
  #fresh = false;
  /** The whole body of the current request has arrived. */
  #bodyOver = true;
  #answered = false;
  /** `flush` follows in this turn. */
  #flushing = false;
  /** The current answer is the last. */
  #last = false;
  /** Malformed bytes arrived, so no further request can be read. */
  #ignoring = false;
  /** Closing the connection marks the end of the answer. */
  #untilClosed = false;
  #callerDone = false;
  #lingered = 0;
  #dueAt: number;

  constructor(host: ConnectionHost, socket: Socket<ServerConnection>) {
    this.#host = host;
    this.#socket = socket;
    this.input = new HeldBytes(socket, new Pace(slowSenderMs, host.turnMs));
    // A connection that was reset early has no address.
    this.address = socket.remoteAddress ?? "";
    this.secure = host.secure;
    this.unread = new UnreadAnswer(host.memory, this.address, new Pace(bounds.stalledReaderMs, host.turnMs));
    this.#writer = new MessageWriter(this, this.unread);
    this.#phase = host.secure ? "handshake" : "idle";
    this.#dueAt = host.after(host.secure ? Math.min(host.idleMs, callerHandshakeMs) : host.idleMs);
  }

  /** `thrown`: why the TLS handshake failed; then the runtime closes the socket. */
  handshakeEnded(agreed: boolean, thrown: Error | null): void {
    if (this.#phase !== "handshake") return;
    // BoringSSL's code is the last part of its text, as in `error:1000009c:SSL routines:OPENSSL_internal:HTTP_REQUEST`.
    const code = /:([A-Z0-9_]+)$/.exec(thrown?.message ?? "")?.[1];
    if (!agreed) this.closed(code?.toLowerCase());
    else {
      this.#phase = "idle";
      this.#dueAt = this.#host.after(this.#host.idleMs);
    }
  }

  get phase(): Phase {
    return this.#phase;
  }

  get idleSince(): number | null {
    return this.#phase === "idle" ? this.#dueAt : null;
  }

  get full(): boolean {
    return this.#writer.full;
  }

  get bodyOver(): boolean {
    return this.#bodyOver;
  }

  take(bytes: Buffer): void {
    switch (this.#phase) {
      case "over":
        return;
      case "lingering":
        this.#lingered += bytes.length;
        if (this.#lingered > lingerBytesMax) this.cut();
        return;
      case "raw":
        this.#exchange?.onRaw(bytes);
        return;
      default:
        if (this.#exchange !== null && this.#bodyOver) this.input.add(bytes);
        else if (!this.#ignoring) this.#read(bytes);
    }
  }

  callerEnded(): void {
    if (this.#phase === "over" || this.#phase === "handshake") return;
    this.#callerDone = true;
    // The answer is sent first.
    if (this.#answered) return;
    if (this.#exchange !== null) this.#exchange.onCallerDone();
    else if (this.#writer.sent) this.#end();
  }

  /** `problem`: of a TLS handshake that has not succeeded; null: none. */
  closed(problem: string | null = "gone"): void {
    if (this.#phase === "over") return;
    if (this.#phase === "handshake" && problem !== null) this.#host.handshakeFailed(problem, this.address);
    this.#phase = "over";
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#writer.clear();
    this.input.close();
    this.#host.forget(this);
    exchange?.onGone(this.unread.wasSlow);
  }

  drained(): void {
    if (this.#phase === "over") return;
    this.#writer.drain();
    if (!this.#writer.sent) return;
    if (this.#answered) this.flush();
    else if (this.#phase !== "lingering") this.#exchange?.onRoom();
    else if (this.#dueAt === never) this.#shutDown();
  }

  tick(now: number): void {
    // The runtime reports nothing more of a paused connection that broke while writing.
    if (this.#writer.broken) this.cut();
    else if (this.unread.isSlow()) {
      this.#host.closing("slow_reader");
      this.cut();
    } else if (this.#dueAt <= now) this.#late();
    else if ((this.#phase === "answering" || this.#phase === "raw") && this.input.isSlow()) this.#slow();
  }

  /** Accepts no further request, and closes the connection if it is idle. */
  leave(): void {
    this.#last = true;
    if (this.#phase === "handshake") {
      // No request was sent on it, so its caller can reconnect elsewhere.
      this.closed(null);
      this.#socket.terminate();
    } else if (this.#phase === "idle") this.#end();
    else if (this.#phase === "discarding") this.#finish();
  }

  cut(): void {
    // A reset would discard the bytes of a sent answer that the caller has not read yet.
    if (this.#phase === "lingering" && this.#writer.sent) this.#socket.end();
    else this.#socket.terminate();
    this.closed();
  }

  askForBody(): void {
    this.raw(continueBytes);
    this.awaitBody();
  }

  pause(): void {
    this.input.pause();
  }

  resume(): void {
    this.input.resume();
  }

  /** Starts the timeout for the rest of the body. */
  awaitBody(): void {
    if (!this.#bodyOver) this.input.pace.start();
  }

  /** Sends a whole answer. `lines`: header lines. */
  answerWhole(status: number, lines: string[], body: Uint8Array): void {
    if (this.#phase === "over") return;
    const bodyless = isBodyless(status);
    const unsent = bodyless || this.#head?.method === "HEAD";
    const framing = bodyless && body.length === 0 ? "none" : body.length;
    this.#writer.begin(this.#headOf(status, lines, framing), false);
    if (!unsent) this.#writer.piece(body);
    this.answerEnd();
  }

  /** Sends the head of an answer whose pieces follow. `length`: null if unknown. Returns false if no body may be sent. */
  answerBegin(status: number, lines: string[], length: number | null): boolean {
    if (this.#phase === "over") return false;
    const framing = isBodyless(status) ? "none" : (length ?? (this.#head?.minor === 0 ? "close" : "chunked"));
    if (framing === "close") this.#last = this.#untilClosed = true;
    const bodyless = framing === "none" || this.#head?.method === "HEAD";
    this.#writer.begin(this.#headOf(status, lines, framing), framing === "chunked" && !bodyless);
    this.#flushSoon();
    return !bodyless;
  }

  answerPiece(piece: Uint8Array): void {
    if (this.#phase === "over") return;
    this.#writer.piece(piece);
    this.#flushSoon();
  }

  /** The answer is complete; it is sent with the other answers of this turn of the event loop. */
  answerEnd(): void {
    if (this.#phase === "over") return;
    this.#writer.finish();
    this.#answered = true;
    this.#flushSoon();
  }

  /** Sends what there is, and shows the caller that the answer is incomplete. */
  answerBroken(): void {
    if (this.#phase === "over") return;
    this.#last = true;
    this.flush();
    if (this.#untilClosed) this.cut();
    else this.#finish();
  }

  flush(): void {
    this.#flushing = false;
    if (this.#phase === "over") return;
    this.#writer.flush();
    if (this.#answered && this.#writer.sent) this.#next();
  }

  #flushSoon(): void {
    if (!this.#flushing) this.#host.flushSoon(this);
    this.#flushing = true;
  }

  /** Switches to another protocol, which also gets the bytes after the request. */
  becomeRaw(): void {
    this.#phase = "raw";
    this.#dueAt = never;
    if (!this.input.isEmpty) this.#exchange?.onRaw(this.input.take());
    this.input.resume();
  }

  raw(bytes: Uint8Array): void {
    if (this.#phase !== "over") this.#writer.raw(bytes);
  }

  /** Closes the connection after the written bytes were sent. */
  close(): void {
    if (this.#phase !== "over") this.#finish();
  }

  writeBytes(bytes: Uint8Array, length: number): number {
    this.#host.beforeWriting();
    return this.#socket.write(bytes, 0, length);
  }

  onHead(head: RequestHead): void {
    this.#phase = "answering";
    this.#head = head;
    this.#bodyOver = false;
    this.#answered = false;
    this.#last = !head.persistent;
    this.#fresh = true;
    this.#exchange = this.#host.open(this, head);
  }

  onBody(piece: Uint8Array): void {
    this.input.pace.moved(piece.length);
    this.#exchange?.request.push(piece);
  }

  onEnd(): void {
    this.#bodyOver = true;
    this.input.pace.stop();
    if (this.#phase === "answering") this.#dueAt = never;
    this.#exchange?.request.finish();
  }

  #read(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      const rest = at === 0 ? bytes : bytes.subarray(at);
      if (this.#exchange !== null && this.#bodyOver) {
        this.input.add(rest);
        return;
      }
      if (this.#phase === "over" || this.#phase === "lingering") return;
      try {
        at += this.#reader.push(rest);
      } catch (thrown) {
        this.#unreadable(thrown);
        return;
      }
      this.#begin();
      if (this.#phase === "discarding" && this.#bodyOver) this.#ready();
    }
    if (this.#phase !== "idle" || this.#reader.untouched) return;
    this.#phase = "head";
    this.#dueAt = this.#host.after(this.#host.idleMs);
  }

  #begin(): void {
    if (!this.#fresh) return;
    this.#fresh = false;
    this.#dueAt = this.#bodyOver ? never : this.#host.after(bounds.requestBodyTotalMs + bodyLateMs);
    this.#exchange?.start();
  }

  #unreadable(thrown: unknown): void {
    const problem =
      thrown instanceof MalformedMessage ? thrown : new MalformedMessage("syntax", "The request cannot be read.");
    this.#last = this.#ignoring = true;
    if (this.#exchange === null) {
      this.#head = null;
      this.#refuse(problem.reason, problem.message);
      return;
    }
    // An answer still reaches the caller.
    const failure = new Failure("invalid_request", "The framing of the body is malformed.", { cause: problem });
    this.#exchange.request.breakOff(failure);
    this.#begin();
  }

  #refuse(reason: MalformedMessage["reason"] | "late", message: string): void {
    this.#phase = "answering";
    const { status, headers, body } = this.#host.refusal(reason, message);
    this.answerWhole(status, linesOf(headers), body instanceof Uint8Array ? body : Buffer.alloc(0));
  }

  #headOf(status: number, lines: string[], framing: AnswerFraming): string[] {
    // The rest of a short body is read and dropped; any other body ends the connection.
    if (!this.#bodyOver && !this.#restIsShort()) this.#last = true;
    if ((this.#callerDone && this.input.isEmpty) || this.#host.leaving()) this.#last = true;
    const { minor = 1 } = this.#head ?? {};
    return answerHead({ status, lines, framing, last: this.#last, minor, common: this.#host.commonLines() });
  }

  #restIsShort(): boolean {
    const framing = this.#callerDone ? undefined : this.#head?.framing;
    return framing?.kind === "length" && framing.bytes <= bounds.bodyAtOnceBytesMax;
  }

  /** The whole answer was sent. */
  #next(): void {
    this.#answered = false;
    this.#exchange?.onSent();
    this.#exchange = null;
    if (this.#last) {
      this.#finish();
      return;
    }
    this.#dueAt = this.#host.after(this.#host.idleMs);
    if (this.#bodyOver) this.#ready();
    else {
      this.#phase = "discarding";
      this.input.resume();
    }
  }

  #ready(): void {
    this.#phase = "idle";
    this.#head = null;
    this.#reader.begin();
    if (this.input.isEmpty) {
      this.input.resume();
      if (this.#callerDone) this.#end();
      return;
    }
    const held = this.input.take();
    this.input.resume();
    this.#read(held);
    if (this.#callerDone && this.#exchange === null && !this.#answered) this.#end();
    else if (this.#callerDone) this.#exchange?.onCallerDone();
  }

  #finish(): void {
    const exchange = this.#exchange;
    this.#exchange = null;
    this.input.take();
    this.#phase = "lingering";
    this.#dueAt = never;
    this.input.resume();
    if (this.#writer.sent) this.#shutDown();
    exchange?.onGone(false);
  }

  /** Closes in two steps, so that a caller that is still sending gets the whole answer (RFC 9112, 9.6). */
  #shutDown(): void {
    if (this.#callerDone) {
      this.#end();
      return;
    }
    this.#dueAt = this.#host.after(bounds.lingerMs);
    this.#socket.shutdown();
  }

  #end(): void {
    // With TLS the runtime waits for the caller's close notice without a limit.
    if (this.secure && !this.#callerDone) {
      this.#finish();
      return;
    }
    this.#socket.end();
    this.closed();
  }

  #late(): void {
    if (this.#phase === "handshake") {
      this.closed("late");
      this.#socket.terminate();
    } else if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head") {
      this.#last = this.#ignoring = true;
      this.#dueAt = never;
      this.#refuse("late", "The head of the request did not arrive in time.");
    } else if (this.#phase === "discarding") this.#finish();
    else this.cut();
  }

  /** The body arrives too slowly. */
  #slow(): void {
    this.input.pace.stop();
    this.#last = true;
    this.#host.closing("slow_sender");
    this.#exchange?.onSlow();
  }
}
