import { bounds, Failure, type HeaderReader, LeaveSignal, type MemoryOwner, pulledStream } from "#core/index.ts";
import type { RequestHead } from "#http1/index.ts";
import { expectsContinue } from "./answer.ts";

/** The connection of a request, while its body is read. */
export interface BodyFlow {
  /** The peer's address; empty if the connection was reset early. */
  readonly address: string;
  readonly secure: boolean;
  /** Sends `100 Continue`. */
  askForBody(): void;
  pause(): void;
  resume(): void;
}

/** A request as endpoints use it, in place of the runtime's Request. The connection pauses while more than `unreadBytesMax` bytes are unread. */
export class CallerRequest {
  readonly #head: RequestHead;
  readonly #flow: BodyFlow;
  /** Aborts when the caller leaves. */
  readonly signal = new LeaveSignal();
  /** The caller, once it is authenticated. */
  owner: MemoryOwner | null = null;
  /** The caller waits for `100 Continue` before it sends its body. */
  expecting: boolean;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #whole: boolean;
  #broken: unknown = null;
  #dropped = false;
  #stream: ReadableStream<Uint8Array> | null = null;
  #waiting: (() => void) | null = null;
  /** undefined until the answer ended; null if it was sent whole, else the failure. */
  #end: Failure | null | undefined;
  #onEnd: ((failure: Failure | null) => void) | null = null;

  constructor(head: RequestHead, flow: BodyFlow) {
    this.#head = head;
    this.#flow = flow;
    this.#whole = head.framing.kind === "none";
    this.expecting = head.minor === 1 && expectsContinue(head) === true;
  }

  heldFor(owner: MemoryOwner): void {
    this.owner = owner;
  }

  /** Calls `act` once, with null if the whole answer was sent, else with the failure. */
  whenAnswered(act: (failure: Failure | null) => void): void {
    if (this.#end === undefined) this.#onEnd = act;
    else act(this.#end);
  }

  answered(failure: Failure | null): void {
    if (this.#end !== undefined) return;
    this.#end = failure;
    this.#onEnd?.(failure);
  }

  get peer(): string {
    return this.#flow.address;
  }

  /** Works like the runtime's Headers. */
  get headers(): HeaderReader {
    return this.#head.headers;
  }

  /** See RequestHead. */
  get template(): object {
    return this.#head.template;
  }

  get target(): string {
    return this.#head.target;
  }

  get method(): string {
    return this.#head.method;
  }

  get url(): string {
    return `${this.#flow.secure ? "https" : "http"}://${this.#head.headers.first("host") ?? ""}${this.#head.target}`;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { framing } = this.#head;
    if (framing.kind === "none" || (framing.kind === "length" && framing.bytes === 0)) return null;
    this.#stream ??= pulledStream(
      () => this.#next(),
      () => this.drop(),
    );
    return this.#stream as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  /** Like `arrived`, but does not take the body. */
  get whole(): Uint8Array | null {
    return this.#whole && this.#pieces.length === 1 && !this.#dropped ? (this.#pieces[0] ?? null) : null;
  }

  /** Takes the whole body if it has arrived in one piece; else returns null and takes nothing. */
  arrived(): Uint8Array | null {
    return this.whole === null ? null : this.#take();
  }

  /** The whole body. Only for bodies known to be small. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#whole && this.#pieces.length <= 1) {
      const piece = this.#take() ?? new Uint8Array(0);
      return Promise.resolve(piece);
    }
    return this.#collect();
  }

  push(piece: Uint8Array): void {
    this.expecting = false;
    if (this.#dropped) return;
    this.#pieces.push(piece);
    this.#held += piece.length;
    if (this.#held > bounds.unreadBytesMax) this.#flow.pause();
    this.#wake();
  }

  finish(): void {
    this.#whole = true;
    this.#wake();
  }

  /** Fails the reads of the rest of the body with `thrown`. */
  breakOff(thrown: unknown): void {
    if (this.#whole) return;
    this.#broken ??= thrown;
    this.#wake();
  }

  abort(): void {
    if (this.signal.aborted) return;
    this.breakOff(new Failure("client_closed", "The caller went away while sending its body."));
    this.signal.abort();
  }

  /** Drops the rest of the body. */
  drop(): void {
    this.#dropped = true;
    this.#pieces = [];
    this.#held = 0;
    this.#wake();
  }

  async #collect(): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = [];
    for (let piece = await this.#next(); piece !== null; piece = await this.#next()) pieces.push(piece);
    return Buffer.concat(pieces);
  }

  async #next(): Promise<Uint8Array<ArrayBuffer> | null> {
    for (;;) {
      const piece = this.#take();
      if (piece !== null) return piece;
      if (this.#whole || this.#dropped) return null;
      if (this.#broken !== null) throw this.#broken;
      if (this.expecting) this.#flow.askForBody();
      this.expecting = false;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  #take(): Uint8Array<ArrayBuffer> | null {
    const piece = this.#pieces.shift();
    if (piece === undefined) return null;
    this.#held -= piece.length;
    if (this.#held <= bounds.unreadBytesMax / 2) this.#flow.resume();
    return piece as Uint8Array<ArrayBuffer>;
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.();
  }
}
