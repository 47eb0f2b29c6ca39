import type { Clock, OtlpBatch } from "#ports/index.ts";

/** What was taken out of a store, and how many records that is. */
export interface Taken<Batch> {
  readonly batch: Batch;
  readonly size: number;
}

/** Records that wait, in whatever form. */
export interface ExportStore<Item, Batch> {
  readonly size: number;
  /** They fill a request, however few they are; absent: their number alone says so. */
  readonly isFull?: boolean;
  /** It may become no record at all, or several. */
  put(item: Item): void;
  /** The oldest, at most so many. null: none is ready yet; it is asked again. */
  take(max: number): Taken<Batch> | null;
  /** The last batch was sent, and nobody reads it any more. */
  reuse?(): void;
}

/** Records that wait as they came. */
export class ListStore<Item> implements ExportStore<Item, readonly Item[]> {
  #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  put(item: Item): void {
    this.#items.push(item);
  }

  take(max: number): Taken<readonly Item[]> | null {
    const items = this.#items;
    const batch = items.length <= max ? items : items.slice(0, max);
    this.#items = batch === items ? [] : items.slice(max);
    return batch.length === 0 ? null : { batch, size: batch.length };
  }
}

export interface ExportQueueOptions<Item, Batch> {
  readonly clock: Pick<Clock, "after">;
  readonly batch: OtlpBatch;
  readonly store: ExportStore<Item, Batch>;
  /** Sends them; false or a rejection: they are lost. */
  readonly send: (batch: Batch, size: number) => Promise<boolean>;
  /** So many were not taken, or not sent. */
  readonly onLost: (items: number, why: "full" | "failed") => void;
}

/**
 * Records on their way out. Adding one never waits; a full batch leaves at once, a smaller one after a delay, one export at a time.
 * While that does not come to its end records wait up to a bound, and more of them are dropped and counted.
 */
export class ExportQueue<Item, Batch> {
  readonly #options: ExportQueueOptions<Item, Batch>;
  readonly #store: ExportStore<Item, Batch>;
  #cancel: (() => void) | null = null;
  #hurried = false;
  #sending: Promise<void> | null = null;
  #dropped = 0;

  constructor(options: ExportQueueOptions<Item, Batch>) {
    this.#options = options;
    this.#store = options.store;
  }

  get waiting(): number {
    return this.#store.size;
  }

  add(item: Item): void {
    const { queueMax, batchMax } = this.#options.batch;
    const store = this.#store;
    if (store.size >= queueMax) {
      this.#dropped++;
      return;
    }
    store.put(item);
    if (this.#sending !== null || store.size === 0) return;
    if (this.#fillsBatch(batchMax)) this.#soon(0);
    else if (this.#cancel === null) this.#soon(this.#options.batch.delayMs);
  }

  /** Sends all that waits now. Resolves when it is sent, or lost. */
  async flush(): Promise<void> {
    while (this.#sending !== null || this.#store.size > 0) {
      if (this.#sending === null) this.#begin();
      await this.#sending;
    }
    this.#tellDropped();
  }

  #soon(delayMs: number): void {
    const hurries = delayMs === 0;
    if (this.#cancel !== null && (this.#hurried || !hurries)) return;
    this.#cancel?.();
    this.#hurried = hurries;
    this.#cancel = this.#options.clock.after(delayMs, () => {
      this.#cancel = null;
      this.#begin();
    });
  }

  #begin(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#sending !== null || this.#store.size === 0) return;
    this.#sending = this.#sendOne().finally(() => {
      this.#sending = null;
      const { size } = this.#store;
      if (size > 0) this.#soon(this.#fillsBatch(this.#options.batch.batchMax) ? 0 : this.#options.batch.delayMs);
    });
  }

  #fillsBatch(batchMax: number): boolean {
    return this.#store.size >= batchMax || this.#store.isFull === true;
  }

  async #sendOne(): Promise<void> {
    const { batch, send, onLost } = this.#options;
    const taken = this.#store.take(batch.batchMax);
    if (taken !== null) {
      const sent = await send(taken.batch, taken.size).catch(() => false);
      if (sent) this.#store.reuse?.();
      else onLost(taken.size, "failed");
    }
    this.#tellDropped();
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#options.onLost(dropped, "full");
  }
}
