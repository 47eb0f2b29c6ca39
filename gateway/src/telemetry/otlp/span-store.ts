import { bounds, type LedgerEntry } from "#core/index.ts";
import type { ExportStore, Taken } from "./export-queue.ts";
import type { SpanFields } from "./span.ts";
import type { SpanMaker, TracedEvent } from "./span-maker.ts";

/** Spans in the form in which they are sent. */
export interface SpanRow<Batch> {
  readonly size: number;
  put(span: SpanFields): void;
  /** The oldest, `size` of them at most. */
  take(size: number): Batch;
}

/**
 * Spans that wait to be sent. They are written as soon as what they tell of is over: entries that waited instead would have outlived
 * their calls, and the collector of garbage would have had to carry them. Only the attempts of a key's first call wait for its end, with
 * which the names of the key come; they wait for one export at most.
 */
export class SpanStore<Batch> implements ExportStore<TracedEvent, Batch> {
  readonly #maker: SpanMaker;
  readonly #row: SpanRow<Batch>;
  #unnamed: LedgerEntry[] = [];
  #unnamedLong: LedgerEntry[] = [];

  constructor(maker: SpanMaker, row: SpanRow<Batch>) {
    this.#maker = maker;
    this.#row = row;
  }

  get size(): number {
    return this.#row.size + this.#unnamed.length + this.#unnamedLong.length;
  }

  put(event: TracedEvent): void {
    if ("end" in event) {
      if (event.end.principal != null) this.#maker.learn(event.end.principal);
      if (this.#unnamed.length + this.#unnamedLong.length > 0) this.#writeNamed();
    } else if (this.#unnamed.length < bounds.unnamedAttemptsMax && !this.#maker.isNamed(event)) {
      this.#unnamed.push(event);
      return;
    }
    this.#write(event);
  }

  take(max: number): Taken<Batch> | null {
    for (const entry of this.#unnamedLong) this.#write(entry);
    this.#unnamedLong = this.#unnamed;
    this.#unnamed = [];
    const size = Math.min(max, this.#row.size);
    return size === 0 ? null : { batch: this.#row.take(size), size };
  }

  #writeNamed(): void {
    const waiting = [...this.#unnamedLong, ...this.#unnamed];
    this.#unnamedLong = [];
    this.#unnamed = [];
    for (const entry of waiting) {
      if (this.#maker.isNamed(entry)) this.#write(entry);
      else this.#unnamed.push(entry);
    }
  }

  #write(event: TracedEvent): void {
    const span = this.#maker.spanOf(event);
    if (span !== null) this.#row.put(span);
  }
}
