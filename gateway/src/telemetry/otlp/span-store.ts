import { bounds } from "#core/index.ts";
import type { ExportStore, Taken } from "./export-queue.ts";
import type { SpanBytes } from "./span-bytes.ts";
import { type AttemptEvent, entryOf, type SpanMaker, type TracedEvent } from "./span-maker.ts";

/**
 * Spans that wait to be sent. They are written as soon as what they tell of is over: entries that waited instead would have outlived
 * their calls, and the collector of garbage would have had to carry them. Only the attempts of a key's first call wait for its end, with
 * which the names of the key come; they wait for one export at most.
 */
export class SpanStore implements ExportStore<TracedEvent, Uint8Array> {
  readonly #maker: SpanMaker;
  readonly #row: SpanBytes;
  readonly #onContentLost: () => void;
  #unnamed: AttemptEvent[] = [];
  #unnamedLong: AttemptEvent[] = [];

  constructor(maker: SpanMaker, row: SpanBytes, onContentLost: () => void = () => {}) {
    this.#maker = maker;
    this.#row = row;
    this.#onContentLost = onContentLost;
  }

  get size(): number {
    return this.#row.size + this.#unnamed.length + this.#unnamedLong.length;
  }

  get isFull(): boolean {
    return this.#row.bytes >= bounds.contentRequestBytesMax;
  }

  put(event: TracedEvent): void {
    if ("end" in event) {
      if (event.end.principal != null) this.#maker.learn(event.end.principal);
      if (this.#unnamed.length + this.#unnamedLong.length > 0) this.#writeNamed();
    } else if (this.#unnamed.length < bounds.unnamedAttemptsMax && !this.#maker.isNamed(entryOf(event))) {
      this.#unnamed.push(event);
      return;
    }
    this.#write(event);
  }

  take(max: number): Taken<Uint8Array> | null {
    for (const event of this.#unnamedLong) this.#write(event);
    this.#unnamedLong = this.#unnamed;
    this.#unnamed = [];
    const size = Math.min(max, this.#row.fitting(bounds.contentRequestBytesMax));
    return size === 0 ? null : { batch: this.#row.take(size), size };
  }

  reuse(): void {
    this.#row.reuse();
  }

  #writeNamed(): void {
    const waiting = [...this.#unnamedLong, ...this.#unnamed];
    this.#unnamedLong = [];
    this.#unnamed = [];
    for (const event of waiting) {
      if (this.#maker.isNamed(entryOf(event))) this.#write(event);
      else this.#unnamed.push(event);
    }
  }

  #write(event: TracedEvent): void {
    const isHeavy = "content" in event && event.content !== null && this.#row.bytes > bounds.contentQueueBytesMax;
    if (isHeavy) this.#onContentLost();
    const span = this.#maker.spanOf(isHeavy ? { ...event, content: null } : event);
    if (span !== null) this.#row.put(span);
  }
}
