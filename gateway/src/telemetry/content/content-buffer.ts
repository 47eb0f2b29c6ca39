import { bounds } from "#core/index.ts";
import type { Clock, ContentBodies, ContentSink } from "#ports/index.ts";
import { OrderThread } from "#system/index.ts";
import { type AttemptWithContent, entryOf, type TracedEvent } from "../otlp/span-maker.ts";
import { hasContent, type ReadContent } from "./read-content.ts";

export interface ContentBufferOptions {
  readonly clock: Pick<Clock, "after" | "monotonic">;
  /** Whether the content of this request is exported. */
  readonly isExported: (requestId: string) => boolean;
  /** Receives the events of a call, in their order. */
  readonly onEvent: (event: TracedEvent) => void;
  /** Receives the content of a call before its events; null if content is exported in spans only. */
  readonly onContent: ((attempt: AttemptWithContent) => void) | null;
  /** Whether spans include content. */
  readonly inSpan: boolean;
  /** The content of a call could not be read. */
  readonly onLost: () => void;
}

interface BufferedCall {
  readonly events: TracedEvent[];
  /** undefined while it is awaited; null if there is none. */
  content: ReadContent | null | undefined;
  ended: boolean;
  cancelTimeout: () => void;
}

/**
 * Holds the events of calls whose key captures bodies until their messages are read. The messages belong to the attempt that answered,
 * which is the last one.
 */
export class ContentBuffer implements ContentSink {
  readonly #options: ContentBufferOptions;
  readonly #reader: ContentReader;
  readonly #calls = new Map<string, BufferedCall>();
  readonly #reading = new Set<Promise<void>>();
  #closed = false;

  constructor(options: ContentBufferOptions) {
    this.#options = options;
    this.#reader = new ContentReader(options.clock);
  }

  willCapture(requestId: string): void {
    if (this.#closed || !this.#options.isExported(requestId)) return;
    if (this.#calls.size >= bounds.contentHeldCallsMax) {
      const [oldest] = this.#calls.keys();
      if (oldest !== undefined) this.#giveUp(oldest);
    }
    this.#calls.set(requestId, { events: [], content: undefined, ended: false, cancelTimeout: () => {} });
  }

  captured(requestId: string, bodies: ContentBodies | null): void {
    const call = this.#calls.get(requestId);
    if (call === undefined) return;
    if (bodies === null) this.#giveUp(requestId);
    else if (!hasContent(bodies.endpoint)) this.#setContent(call, requestId, null);
    else {
      const reading = this.#reader.read(bodies).then((content) => {
        if (content === null) this.#options.onLost();
        this.#setContent(call, requestId, content);
      });
      this.#reading.add(reading);
      void reading.finally(() => this.#reading.delete(reading));
    }
  }

  /** Returns false if the content of the call is not awaited; then the event is not held. */
  hold(requestId: string, event: TracedEvent): boolean {
    const call = this.#calls.get(requestId);
    if (call === undefined) return false;
    call.events.push(event);
    if (!("end" in event)) return true;
    call.ended = true;
    if (call.content !== undefined) this.#release(requestId, call);
    else call.cancelTimeout = this.#options.clock.after(bounds.contentWaitMs, () => this.#giveUp(requestId));
    return true;
  }

  /** Waits a moment for readings under way, then releases every call. */
  async close(): Promise<void> {
    this.#closed = true;
    const timeout = Promise.withResolvers<void>();
    const cancel = this.#options.clock.after(bounds.contentCloseMs, timeout.resolve);
    await Promise.race([Promise.all(this.#reading), timeout.promise]);
    for (const requestId of [...this.#calls.keys()]) this.#giveUp(requestId);
    await Promise.race([this.#reader.end(), timeout.promise]);
    cancel();
  }

  #setContent(call: BufferedCall, requestId: string, content: ReadContent | null): void {
    call.content = content;
    if (call.ended && this.#calls.get(requestId) === call) this.#release(requestId, call);
  }

  #giveUp(requestId: string): void {
    const call = this.#calls.get(requestId);
    if (call === undefined) return;
    if (call.content === undefined) this.#options.onLost();
    this.#release(requestId, call);
  }

  #release(requestId: string, { content = null, events, cancelTimeout }: BufferedCall): void {
    this.#calls.delete(requestId);
    cancelTimeout();
    const { onContent, onEvent, inSpan } = this.#options;
    const answering = content === null ? -1 : events.findLastIndex(isAttempt);
    for (const [index, event] of events.entries()) {
      if (index === answering && content !== null && !("end" in event)) {
        const attempt = { entry: entryOf(event), content, message: "content" in event ? event.message : null };
        onContent?.(attempt);
        onEvent(inSpan ? attempt : event);
      } else onEvent(event);
    }
  }
}

function isAttempt(event: TracedEvent): boolean {
  return !("end" in event) && entryOf(event).outcome !== "rejected";
}

/** Reads messages in a thread, which starts with the first of them. Rejects bodies above a total size. */
export class ContentReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #thread: OrderThread<ContentBodies, ReadContent | null>;
  /** Bodies are read one after the other. */
  #last: Promise<void> = Promise.resolve();
  #bytes = 0;
  #ended = false;
  /** The thread is not started again before. */
  #pausedUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#thread = new OrderThread({
      entry: new URL("./content-worker.ts", import.meta.url),
      name: "content of calls",
      onDeath: () => {
        this.#pausedUntilMs = clock.monotonic() + bounds.contentRestartMs;
      },
    });
  }

  /** null if it cannot be read or there is no room. Never rejects. */
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
    if (this.#ended || this.#clock.monotonic() < this.#pausedUntilMs) return null;
    const answer = await this.#thread.run(bodies);
    return answer !== null && "reply" in answer ? answer.reply : null;
  }
}
