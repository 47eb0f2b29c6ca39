import { bounds } from "#core/index.ts";
import type { ExportStore, Taken } from "./export-queue.ts";
import type { LogBytes } from "./log-bytes.ts";
import type { LogEvent, LogMaker } from "./log-maker.ts";

/** Records that wait to be sent. Each is written as soon as its line is. */
export class LogStore implements ExportStore<LogEvent, Uint8Array> {
  readonly #maker: LogMaker;
  readonly #row: LogBytes;

  readonly #onContentLost: () => void;

  constructor(maker: LogMaker, row: LogBytes, onContentLost: () => void = () => {}) {
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

  take(max: number): Taken<Uint8Array> | null {
    const size = Math.min(max, this.#row.fitting(bounds.contentRequestBytesMax));
    return size === 0 ? null : { batch: this.#row.take(size), size };
  }

  reuse(): void {
    this.#row.reuse();
  }
}
