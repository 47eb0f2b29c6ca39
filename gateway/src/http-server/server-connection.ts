import type { Socket } from "bun";
import { anonymousOwner, bounds, type CallerMemory, type HeldMemory, type MemoryOwner } from "#core/index.ts";
import { MalformedMessage, type RequestHead, RequestReader } from "#http1/index.ts";
import { type AnswerFraming, answerHead, isBodyless } from "./answer.ts";
import type { ConnectionPlace } from "./caller-connections.ts";
import type { ConnectionHost, ServerExchange } from "./exchange.ts";
import { HeldBytes, Pace } from "./held-bytes.ts";
import { Outbox } from "./outbox.ts";

/** What was written to one connection and waits for its caller to read. It is here already, so it counts against what is asked for next. */
class UnreadAnswer {
  readonly #memory: CallerMemory;
  readonly #address: string;
  #held: HeldMemory | null = null;
  /** Whose answer it is; null: nobody knows. */
  owner: MemoryOwner | null = null;

  constructor(memory: CallerMemory, address: string) {
    this.#memory = memory;
    this.#address = address;
  }

  weigh(bytes: number): void {
    if (bytes === 0 && this.#held === null) return;
    this.#held ??= this.#memory.open(this.owner ?? anonymousOwner(this.#address), "unread");
    this.#held.keep(bytes);
    if (bytes === 0) this.#held = null;
  }
}

/** The head of a caller's request, and how many fields it has; of a chunked body's trailers too. */
const callerHeadBytesMax = 16 * 1024;
const callerFieldsMax = 100;
/** What the caller of a connection that is about to close may go on sending. */
const lingerBytesMax = 8 * 1024 * 1024;
/** Beyond the time of a body, for its refusal to be said. */
const bodyLateMs = 10_000;
/** How long a caller is waited for that sends fewer bytes a second than `slowBytesPerSecond`. */
const slowSenderMs = 30_000;

type Phase = "idle" | "head" | "answering" | "discarding" | "lingering" | "raw" | "over";

const never = Number.POSITIVE_INFINITY;
const limits = { headBytesMax: callerHeadBytesMax, fieldsMax: callerFieldsMax };

/** A caller's connection: reads its requests, and answers one after the other. Never throws. */
export class ServerConnection {
  readonly address: string;
  readonly secure: boolean;
  readonly unread: UnreadAnswer;
  /** With what came behind the request that is answered. */
  readonly input: HeldBytes;
  readonly #host: ConnectionHost<ServerConnection>;
  readonly #socket: Socket<ServerConnection>;
  readonly #reader: RequestReader;
  readonly #outbox: Outbox;
  #phase: Phase = "idle";
  #exchange: ServerExchange | null = null;
  #head: RequestHead | null = null;
  /** It was made while bytes are being read, and begins once they are. */
  #fresh = false;
  /** The whole request that is answered has come. */
  #bodyOver = true;
  #answered = false;
  /** Nothing is answered behind this one. */
  #last = false;
  /** What cannot be read has come: where the next request would begin nobody knows. */
  #deaf = false;
  /** The end of the answer is that of the connection. */
  #untilClosed = false;
  #callerDone = false;
  #lingered = 0;
  #dueAt: number;
  readonly #place: ConnectionPlace;

  constructor(host: ConnectionHost<ServerConnection>, socket: Socket<ServerConnection>, place: ConnectionPlace) {
    this.#host = host;
    this.#socket = socket;
    this.#place = place;
    this.input = new HeldBytes(socket, new Pace(slowSenderMs, host.turnMs));
    place.connection = this;
    // Of one that was reset before it was met there is none.
    this.address = socket.remoteAddress ?? "";
    this.secure = host.secure;
    this.unread = new UnreadAnswer(host.memory, this.address);
    this.#outbox = new Outbox({
      write: (bytes, length) => socket.write(bytes, 0, length),
      onKept: (bytes) => this.unread.weigh(bytes),
      pace: new Pace(bounds.stalledReaderMs, host.turnMs),
    });
    this.#reader = new RequestReader(limits, {
      onHead: (head) => this.#onHead(head),
      onBody: (piece) => {
        this.input.pace.moved(piece.length);
        this.#exchange?.onBody(piece);
      },
      onEnd: () => {
        this.#bodyOver = true;
        this.input.pace.stop();
        if (this.#phase === "answering") this.#dueAt = never;
        this.#exchange?.onBodyEnd();
      },
    });
    this.#dueAt = host.after(host.idleMs);
  }

  /** `idle`: it waits for a request; `answering`; `raw`: it speaks another protocol. */
  get phase(): Phase {
    return this.#phase;
  }

  get idleSince(): number | null {
    return this.#phase === "idle" ? this.#dueAt : null;
  }

  get full(): boolean {
    return this.#outbox.full;
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
        else if (!this.#deaf) this.#read(bytes);
    }
  }

  callerEnded(): void {
    if (this.#phase === "over") return;
    this.#callerDone = true;
    // What was answered leaves first.
    if (this.#answered) return;
    if (this.#exchange !== null) this.#exchange.onCallerDone();
    else if (this.#outbox.sent) this.#end();
  }

  closed(): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.#place.release();
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#outbox.clear();
    this.input.close();
    this.#host.forget(this);
    exchange?.onGone(this.#outbox.wasSlow);
  }

  drained(): void {
    if (this.#phase === "over") return;
    this.#outbox.drain();
    if (!this.#outbox.sent) return;
    if (this.#answered) this.flush();
    else if (this.#phase !== "lingering") this.#exchange?.onRoom();
    else if (this.#dueAt === never) this.#shutDown();
  }

  tick(now: number): void {
    // Of a paused connection whose end was found by writing the runtime tells nothing more.
    if (this.#outbox.broken) this.cut();
    else if (this.#outbox.isSlow()) {
      this.#host.closing("slow_reader");
      this.cut();
    } else if (this.#dueAt <= now) this.#late();
    else if ((this.#phase === "answering" || this.#phase === "raw") && this.input.isSlow()) this.#slow();
  }

  /** Nothing more is begun on it; one on which nothing is answered is closed. */
  leave(): void {
    this.#last = true;
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "discarding") this.#finish();
  }

  cut(): void {
    // A reset would take back what its caller has not read yet of an answer that has left.
    if (this.#phase === "lingering" && this.#outbox.sent) this.#socket.end();
    else this.#socket.terminate();
    this.closed();
  }

  /** The rest of the body is asked for. */
  awaitBody(): void {
    if (!this.#bodyOver) this.input.pace.start();
  }

  /** Any answer whose body is whole. `lines`: of the head. */
  answerWhole(status: number, lines: string, body: Uint8Array): void {
    if (this.#phase === "over") return;
    const bodyless = isBodyless(status);
    const unsent = bodyless || this.#head?.method === "HEAD";
    const framing = bodyless && body.length === 0 ? "none" : body.length;
    this.#outbox.begin(this.#headText(status, lines, framing), false);
    if (!unsent) this.#outbox.piece(body);
    this.answerEnd();
  }

  /** The head of an answer whose pieces follow. `length`: null when it is not known. False: it has no body to be sent. */
  answerBegin(status: number, lines: string, length: number | null): boolean {
    if (this.#phase === "over") return false;
    const framing = isBodyless(status) ? "none" : (length ?? (this.#head?.minor === 0 ? "close" : "chunked"));
    if (framing === "close") this.#last = this.#untilClosed = true;
    const bodyless = framing === "none" || this.#head?.method === "HEAD";
    this.#outbox.begin(this.#headText(status, lines, framing), framing === "chunked" && !bodyless);
    this.#host.flushSoon(this);
    return !bodyless;
  }

  answerPiece(piece: Uint8Array): void {
    if (this.#phase === "over") return;
    this.#outbox.piece(piece);
    this.#host.flushSoon(this);
  }

  /** All of it was given; it leaves with the other answers of this turn of the loop. */
  answerEnd(): void {
    if (this.#phase === "over") return;
    this.#outbox.finish();
    this.#answered = true;
    this.#host.flushSoon(this);
  }

  /** It breaks off: what was given still leaves, and its caller sees that it was not all. */
  answerBroken(): void {
    if (this.#phase === "over") return;
    this.#last = true;
    this.flush();
    if (this.#untilClosed) this.cut();
    else this.#finish();
  }

  flush(): void {
    if (this.#phase === "over") return;
    this.#outbox.flush();
    if (this.#answered && this.#outbox.sent) this.#next();
  }

  /** Another protocol is spoken from here on; what came behind the request belongs to it. */
  becomeRaw(): void {
    this.#phase = "raw";
    this.#dueAt = never;
    if (!this.input.isEmpty) this.#exchange?.onRaw(this.input.take());
    this.input.resume();
  }

  raw(bytes: Uint8Array): void {
    if (this.#phase !== "over") this.#outbox.raw(bytes);
  }

  /** What was written leaves, then it is closed. */
  close(): void {
    if (this.#phase !== "over") this.#finish();
  }

  #onHead(head: RequestHead): void {
    this.#phase = "answering";
    this.#head = head;
    this.#bodyOver = false;
    this.#answered = false;
    this.#last = !head.persistent;
    this.#fresh = true;
    this.#exchange = this.#host.open(this, head);
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
    this.#last = this.#deaf = true;
    if (this.#exchange === null) {
      this.#phase = "answering";
      this.#head = null;
      this.#host.refuse(this, problem);
      return;
    }
    this.#exchange.onMalformed(problem);
    this.#begin();
  }

  #headText(status: number, lines: string, framing: AnswerFraming): string {
    // What is left of a short body is read and dropped; of another one nobody knows when it ends.
    if (!this.#bodyOver && !this.#restIsShort()) this.#last = true;
    if ((this.#callerDone && this.input.isEmpty) || this.#host.leaving()) this.#last = true;
    const { minor = 1 } = this.#head ?? {};
    return answerHead({ status, lines, framing, last: this.#last, minor, date: this.#host.date() });
  }

  #restIsShort(): boolean {
    const framing = this.#callerDone ? undefined : this.#head?.framing;
    return framing?.kind === "length" && framing.bytes <= bounds.bodyAtOnceBytesMax;
  }

  /** An answer has left whole. */
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
    this.input.clear();
    this.#phase = "lingering";
    this.#dueAt = never;
    this.input.resume();
    if (this.#outbox.sent) this.#shutDown();
    exchange?.onGone(false);
  }

  /** Closed before all was read, a caller that still sends might lose what was written (RFC 9112, 9.6). */
  #shutDown(): void {
    if (this.#callerDone) {
      this.#end();
      return;
    }
    this.#dueAt = this.#host.after(bounds.lingerMs);
    this.#socket.shutdown();
  }

  #end(): void {
    // By TLS the runtime waits for the caller's goodbye, for as long as it takes.
    if (this.secure && !this.#callerDone) {
      this.#finish();
      return;
    }
    this.#socket.end();
    this.closed();
  }

  #late(): void {
    if (this.#phase === "idle") this.#end();
    else if (this.#phase === "head") {
      this.#last = this.#deaf = true;
      this.#phase = "answering";
      this.#dueAt = never;
      this.#host.refuseLate(this, "head");
    } else if (this.#phase === "discarding") this.#finish();
    else this.cut();
  }

  /** The body or the message does not come, or nearly so. */
  #slow(): void {
    this.input.pace.stop();
    this.#last = true;
    this.#host.closing("slow_sender");
    if (this.#exchange?.onSlow() === true) return;
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#deaf = true;
    exchange?.onGone(false);
    this.#host.refuseLate(this, "body");
  }
}
