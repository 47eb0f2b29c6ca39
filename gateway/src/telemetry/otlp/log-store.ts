import { bounds } from "#core/index.ts";
import type { ExportStore, Taken } from "./export-queue.ts";
import type { LogFields } from "./log-fields.ts";
import type { LogEvent, LogMaker } from "./log-maker.ts";

/** Records in the form in which they are sent. */
export interface LogRow<Batch> {
  readonly size: number;
  /** About what they take, of the messages in them at the least. */
  readonly bytes: number;
  /** How many of the oldest take no more than that; one at the least. */
  fitting(bytesMax: number): number;
  put(record: LogFields): void;
  /** The oldest, `size` of them at most. */
  take(size: number): Batch;
  /** As `ExportStore` has it. */
  reuse?(): void;
}

/** Records that wait to be sent. Each is written as soon as its line is. */
export class LogStore<Batch> implements ExportStore<LogEvent, Batch> {
  readonly #maker: LogMaker;
  readonly #row: LogRow<Batch>;

  readonly #onContentLost: () => void;

  constructor(maker: LogMaker, row: LogRow<Batch>, onContentLost: () => void = () => {}) {
    this.#maker = maker;
    this.#row = row;
    this.#onContentLost = onContentLost;
  }

  get isFull(): boolean {
    return this.#row.bytes >= bounds.contentRequestBytesMax;
  }

  get size(): number {
    return this.#row.size;
  }

  put(event: LogEvent): void {
    if (typeof event !== "string" && "content" in event && this.#row.bytes > bounds.contentQueueBytesMax) {
      this.#onContentLost();
      return;
    }
    const record = this.#maker.recordOf(event);
    if (record !== null) this.#row.put(record);
  }

  take(max: number): Taken<Batch> | null {
    const size = Math.min(max, this.#row.fitting(bounds.contentRequestBytesMax));
    return size === 0 ? null : { batch: this.#row.take(size), size };
  }

  reuse(): void {
    this.#row.reuse?.();
  }
}
