import type { Clock, OtlpBatch } from "#ports/index.ts";

/** Records taken out of a store, and how many they are. */
export interface Batch<Items> {
  readonly items: Items;
  readonly size: number;
}

/** Records that wait to be exported. */
export interface ExportStore<Item, Items> {
  readonly size: number;
  /** Whether the records fill a request even if they are few. */
  readonly isFull?: boolean;
  /** May add no record, or several. */
  put(item: Item): void;
  /** At most `max` of the oldest records; null if none is ready yet. */
  take(max: number): Batch<Items> | null;
  /** The last batch was sent and is not read any more. */
  reuse?(): void;
}

/** Keeps records as they are. */
export class ListStore<Item> implements ExportStore<Item, readonly Item[]> {
  #items: Item[] = [];

  get size(): number {
    return this.#items.length;
  }

  put(item: Item): void {
    this.#items.push(item);
  }

  take(max: number): Batch<readonly Item[]> | null {
    const items = this.#items.splice(0, max);
    return items.length === 0 ? null : { items, size: items.length };
  }
}

export interface ExportQueueOptions<Item, Items> {
  readonly clock: Pick<Clock, "after">;
  readonly batch: OtlpBatch;
  readonly store: ExportStore<Item, Items>;
  /** Resolves to false, or rejects, if the records are lost. */
  readonly send: (items: Items, size: number) => Promise<boolean>;
  /** `full`: the queue had no room for them; `failed`: they could not be sent. */
  readonly onLost: (count: number, why: "full" | "failed") => void;
}

/**
 * Exports records in batches, one at a time. A full batch is sent at once, a smaller one after a delay. While an export is under way
 * records wait up to a bound; more are dropped and counted. Adding a record never waits.
 */
export class ExportQueue<Item, Items> {
  readonly #options: ExportQueueOptions<Item, Items>;
  #cancel: (() => void) | null = null;
  /** The next export is scheduled without a delay. */
  #isImmediate = false;
  #sending: Promise<void> | null = null;
  #dropped = 0;

  constructor(options: ExportQueueOptions<Item, Items>) {
    this.#options = options;
  }

  get size(): number {
    return this.#options.store.size;
  }

  add(item: Item): void {
    const { store, batch } = this.#options;
    if (store.size >= batch.queueMax) {
      this.#dropped++;
      return;
    }
    store.put(item);
    if (this.#sending !== null || store.size === 0) return;
    this.#schedule();
  }

  /** Sends every waiting record. Resolves when they are sent or lost. */
  async flush(): Promise<void> {
    while (this.#sending !== null || this.size > 0) {
      if (this.#sending === null) this.#send();
      await this.#sending;
    }
    this.#reportDropped();
  }

  #schedule(): void {
    const { clock, store, batch } = this.#options;
    const isImmediate = store.size >= batch.batchMax || store.isFull === true;
    if (this.#cancel !== null && (this.#isImmediate || !isImmediate)) return;
    this.#cancel?.();
    this.#isImmediate = isImmediate;
    this.#cancel = clock.after(isImmediate ? 0 : batch.delayMs, () => {
      this.#cancel = null;
      this.#send();
    });
  }

  #send(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#sending !== null || this.size === 0) return;
    this.#sending = this.#sendBatch().finally(() => {
      this.#sending = null;
      if (this.size > 0) this.#schedule();
    });
  }

  async #sendBatch(): Promise<void> {
    const { store, batch, send, onLost } = this.#options;
    const next = store.take(batch.batchMax);
    if (next !== null) {
      const sent = await send(next.items, next.size).catch(() => false);
      if (sent) store.reuse?.();
      else onLost(next.size, "failed");
    }
    this.#reportDropped();
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#options.onLost(dropped, "full");
  }
}
