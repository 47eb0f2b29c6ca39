import { bounds, Failure, type HeaderReader, LeaveSignal, type MemoryOwner } from "#core/index.ts";
import { fieldOf, type RequestHead } from "#http1/index.ts";

/** How the connection is told what becomes of a body. */
export interface BodyFlow {
  /** Somebody reads: whoever waits to be told so may send it. */
  wanted(): void;
  pause(): void;
  resume(): void;
}

/**
 * A request as endpoints use it: what they need of the runtime's Request, made only when it is asked for. Beyond
 * `unreadBytesMax` that nobody has read of its body the connection waits.
 */
export class CallerRequest {
  readonly #head: RequestHead;
  readonly #flow: BodyFlow;
  readonly #secure: boolean;
  /** The other side of the connection; empty when it had gone before. */
  readonly peer: string;
  /** Ends when the caller has gone. */
  readonly signal = new LeaveSignal();
  /** Whose call it is, once that is known. */
  owner: MemoryOwner | null = null;
  #pieces: Uint8Array[] = [];
  #held = 0;
  #whole = false;
  #broken: unknown = null;
  #dropped = false;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | null = null;
  #waiting: (() => void) | null = null;
  /** Null once the whole answer was sent, the failure if it was not; undefined while it is on its way. */
  #end: Failure | null | undefined;
  #onEnd: ((failure: Failure | null) => void) | null = null;

  constructor(
    head: RequestHead,
    flow: BodyFlow,
    { address, secure }: { readonly address: string; readonly secure: boolean },
  ) {
    this.peer = address;
    this.#head = head;
    this.#flow = flow;
    this.#secure = secure;
    this.#whole = head.framing.kind === "none";
  }

  heldFor(owner: MemoryOwner): void {
    this.owner = owner;
  }

  /** `hear` is called once, with why the answer did not reach its caller; null: all of it has left. */
  whenAnswered(hear: (failure: Failure | null) => void): void {
    if (this.#end === undefined) this.#onEnd = hear;
    else hear(this.#end);
  }

  answered(failure: Failure | null): void {
    if (this.#end !== undefined) return;
    this.#end = failure;
    this.#onEnd?.(failure);
  }

  /** Read as the runtime's Headers are. */
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
    return `${this.#secure ? "https" : "http"}://${fieldOf(this.#head.fields, "host") ?? ""}${this.#head.target}`;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (this.#head.framing.kind === "none") return null;
    this.#stream ??= new ReadableStream<Uint8Array<ArrayBuffer>>(
      { pull: (controller) => this.#pull(controller), cancel: () => this.drop() },
      { highWaterMark: 0 },
    );
    return this.#stream;
  }

  /** The same as `arrived`, but the body stays to be read. */
  get whole(): Uint8Array | null {
    return this.#whole && this.#pieces.length === 1 && !this.#dropped ? (this.#pieces[0] ?? null) : null;
  }

  /** All of the body where it is here already, in one piece; else null, and nothing was read. */
  arrived(): Uint8Array | null {
    return this.#whole && this.#pieces.length === 1 && !this.#dropped ? this.#take() : null;
  }

  /** All of the body, for one whose size is known to be small. */
  bytes(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#whole && this.#pieces.length <= 1) {
      const piece = this.#take() ?? new Uint8Array(0);
      return Promise.resolve(piece);
    }
    return this.#collect();
  }

  push(piece: Uint8Array): void {
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

  /** What is to come of the body will not. `thrown`: told to whoever reads it. */
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

  /** Nobody reads the body, or what is left of it. */
  drop(): void {
    this.#dropped = true;
    this.#pieces = [];
    this.#held = 0;
    this.#wake();
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    const piece = await this.#next();
    if (piece === null) controller.close();
    else controller.enqueue(piece);
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
      this.#flow.wanted();
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
