import type { ExportStore, Taken } from "./export-queue.ts";
import type { LogFields } from "./log-fields.ts";
import type { LogEvent, LogMaker } from "./log-maker.ts";

/** Records in the form in which they are sent. */
export interface LogRow<Batch> {
  readonly size: number;
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

  constructor(maker: LogMaker, row: LogRow<Batch>) {
    this.#maker = maker;
    this.#row = row;
  }

  get size(): number {
    return this.#row.size;
  }

  put(event: LogEvent): void {
    const record = this.#maker.recordOf(event);
    if (record !== null) this.#row.put(record);
  }

  take(max: number): Taken<Batch> | null {
    const size = Math.min(max, this.#row.size);
    return size === 0 ? null : { batch: this.#row.take(size), size };
  }

  reuse(): void {
    this.#row.reuse?.();
  }
}
