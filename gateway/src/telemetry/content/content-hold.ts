import { bounds } from "#core/index.ts";
import type { Clock, ContentBodies, ContentSink } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { entryOf, type ToldAttempt, type TracedEvent } from "../otlp/span-maker.ts";
import { hasContent, type ReadContent } from "./read-content.ts";

export interface ContentHoldOptions {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Whether the trace of this request is kept. */
  readonly isWanted: (requestId: string) => boolean;
  /** Of a call together, in the order in which they came. */
  readonly pass: (event: TracedEvent) => void;
  /** Told of what was said before the call's events are passed on; null: nobody wants it apart from its span. */
  readonly tell: ((told: ToldAttempt) => void) | null;
  /** Whether it goes into the span. */
  readonly inSpan: boolean;
  /** The messages of a call could not be had. */
  readonly onLost: () => void;
}

interface HeldCall {
  readonly events: TracedEvent[];
  /** undefined: it is still to come; null: there is none. */
  content: ReadContent | null | undefined;
  ended: boolean;
  /** Ends the wait for it. */
  unbook: () => void;
}

/**
 * What spans of a call are made of waits here until its messages are read, where its key captures bodies: they go into the span of the
 * attempt that answered, which is the last. All other calls pass by.
 */
export class ContentHold implements ContentSink {
  readonly #options: ContentHoldOptions;
  readonly #reader: ContentReader;
  readonly #held = new Map<string, HeldCall>();
  readonly #reading = new Set<Promise<void>>();
  #closed = false;

  constructor(options: ContentHoldOptions) {
    this.#options = options;
    this.#reader = new ContentReader(options.clock);
  }

  expect(requestId: string): void {
    if (this.#closed || !this.#options.isWanted(requestId)) return;
    if (this.#held.size >= bounds.contentHeldCallsMax) {
      for (const oldest of this.#held.keys()) {
        this.#lose(oldest);
        break;
      }
    }
    this.#held.set(requestId, { events: [], content: undefined, ended: false, unbook: () => {} });
  }

  captured(requestId: string, bodies: ContentBodies | null): void {
    const held = this.#held.get(requestId);
    if (held === undefined) return;
    if (bodies === null) this.#lose(requestId);
    else if (!hasContent(bodies.endpoint)) this.#read(held, requestId, null);
    else {
      const reading = this.#reader.read(bodies).then((content) => {
        if (content === null) this.#options.onLost();
        this.#read(held, requestId, content);
      });
      this.#reading.add(reading);
      void reading.finally(() => this.#reading.delete(reading));
    }
  }

  /** False: it is none of a call that waits. */
  took(requestId: string, event: TracedEvent): boolean {
    const held = this.#held.get(requestId);
    if (held === undefined) return false;
    held.events.push(event);
    if (!("end" in event)) return true;
    held.ended = true;
    if (held.content !== undefined) this.#release(requestId, held);
    else held.unbook = this.#options.clock.after(bounds.contentWaitMs, () => this.#lose(requestId));
    return true;
  }

  /** Waits a moment for what is being read, and passes all on. */
  async close(): Promise<void> {
    this.#closed = true;
    const late = Promise.withResolvers<void>();
    const unbook = this.#options.clock.after(bounds.contentCloseMs, late.resolve);
    await Promise.race([Promise.all(this.#reading), late.promise]);
    for (const requestId of [...this.#held.keys()]) this.#lose(requestId);
    await Promise.race([this.#reader.end(), late.promise]);
    unbook();
  }

  #read(held: HeldCall, requestId: string, content: ReadContent | null): void {
    held.content = content;
    if (held.ended && this.#held.get(requestId) === held) this.#release(requestId, held);
  }

  #lose(requestId: string): void {
    const held = this.#held.get(requestId);
    if (held === undefined) return;
    if (held.content === undefined) this.#options.onLost();
    this.#release(requestId, held);
  }

  #release(requestId: string, held: HeldCall): void {
    this.#held.delete(requestId);
    held.unbook();
    const { content } = held;
    const answering = content == null ? -1 : held.events.findLastIndex(isAttempt);
    for (const [at, event] of held.events.entries()) {
      if (at === answering && content != null && !("end" in event)) {
        const told = { entry: entryOf(event), content, message: "content" in event ? event.message : null };
        this.#options.tell?.(told);
        this.#options.pass(this.#options.inSpan ? told : event);
      } else this.#options.pass(event);
    }
  }
}

function isAttempt(event: TracedEvent): boolean {
  return !("end" in event) && entryOf(event).outcome !== "rejected";
}

/** Reads messages beside the event loop, in a thread that is started with the first of them. What it has no room for is not read. */
export class ContentReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #thread: OrderThread<ContentBodies, ReadContent | null>;
  /** The end of the one that was asked for last: they are read one after the other. */
  #last: Promise<void> = Promise.resolve();
  #bytes = 0;
  #ended = false;
  #restMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#thread = new OrderThread({
      entry: new URL("./content-worker.ts", import.meta.url),
      name: "content of calls",
      onDeath: () => {
        this.#restMs = clock.monotonic() + bounds.contentRestartMs;
      },
    });
  }

  /** null: it could not be read, or there is no room. Never rejects. */
  async read(bodies: ContentBodies): Promise<ReadContent | null> {
    const size = (bodies.request?.text.length ?? 0) + (bodies.response?.text.length ?? 0);
    if (this.#bytes + size > bounds.contentReadBytesMax) return null;
    this.#bytes += size;
    const reading = this.#last.then(() => this.#readNow(bodies));
    this.#last = reading.then(() => undefined);
    const content = await reading;
    this.#bytes -= size;
    return content;
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#thread.end();
  }

  async #readNow(bodies: ContentBodies): Promise<ReadContent | null> {
    if (this.#ended || this.#clock.monotonic() < this.#restMs) return null;
    const answer = await this.#thread.run(bodies);
    return answer !== null && "reply" in answer ? answer.reply : null;
  }
}
