import type { Clock, OtlpBatch } from "#ports/index.ts";

export interface ExportQueueOptions<Item> {
  readonly clock: Pick<Clock, "after">;
  readonly batch: OtlpBatch;
  /** Sends them; false or a rejection: they are lost. */
  readonly send: (items: readonly Item[]) => Promise<boolean>;
  /** So many were not taken, or not sent. */
  readonly onLost: (items: number, why: "full" | "failed") => void;
}

/**
 * Records on their way out. Adding one is a push and never waits; a full batch leaves at once, a smaller one after a delay, one export
 * at a time. While that does not come to its end records wait up to a bound, and more of them are dropped and counted.
 */
export class ExportQueue<Item> {
  readonly #options: ExportQueueOptions<Item>;
  #items: Item[] = [];
  #cancel: (() => void) | null = null;
  #hurried = false;
  #sending: Promise<void> | null = null;
  #dropped = 0;

  constructor(options: ExportQueueOptions<Item>) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    const { queueMax, batchMax } = this.#options.batch;
    if (this.#items.length >= queueMax) {
      this.#dropped++;
      return;
    }
    this.#items.push(item);
    if (this.#sending !== null) return;
    if (this.#items.length >= batchMax) this.#soon(0);
    else if (this.#cancel === null) this.#soon(this.#options.batch.delayMs);
  }

  /** Sends all that waits now. Resolves when it is sent, or lost. */
  async flush(): Promise<void> {
    while (this.#sending !== null || this.#items.length > 0) {
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
    if (this.#sending !== null || this.#items.length === 0) return;
    this.#sending = this.#sendOne().finally(() => {
      this.#sending = null;
      if (this.#items.length > 0)
        this.#soon(this.#items.length >= this.#options.batch.batchMax ? 0 : this.#options.batch.delayMs);
    });
  }

  async #sendOne(): Promise<void> {
    const { batch, send, onLost } = this.#options;
    const items = this.#items;
    const leaving = items.length <= batch.batchMax ? items : items.slice(0, batch.batchMax);
    this.#items = leaving === items ? [] : items.slice(batch.batchMax);
    const sent = await send(leaving).catch(() => false);
    if (!sent) onLost(leaving.length, "failed");
    this.#tellDropped();
  }

  #tellDropped(): void {
    if (this.#dropped === 0) return;
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.#options.onLost(dropped, "full");
  }
}
