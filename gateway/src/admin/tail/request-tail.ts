import type { RequestRow } from "@sluice/contract";
import { bounds, type Catalog, Failure, type LedgerEntry } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { KeyNames, type KeyNamesOptions } from "../handlers/key-names.ts";
import { rowOf } from "./request-row.ts";
import { TailListener, type TailOptions } from "./tail-listener.ts";

export interface RequestTailOptions extends KeyNamesOptions {
  readonly catalog: () => Catalog;
  readonly clock: Clock;
}

/**
 * Shows requests to whoever watches them, as they end in this process. While nobody does, it costs a call one comparison; a
 * watcher that reads slowly loses the oldest rows and is told how many.
 */
export class RequestTail {
  readonly #options: RequestTailOptions;
  readonly #keyNames: KeyNames;
  readonly #listeners = new Set<TailListener>();
  #closed = false;

  constructor(options: RequestTailOptions) {
    this.#options = options;
    this.#keyNames = new KeyNames(options);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** An observer that tells this of every attempt's end, beside the one that it stands before. */
  before(observer: Observer): Observer {
    return {
      log: (level, message, fields) => observer.log(level, message, fields),
      attemptEnd: (entry) => {
        observer.attemptEnd(entry);
        if (this.#listeners.size > 0) this.#tell(entry);
      },
      requestEnd: (end) => observer.requestEnd(end),
      breakerChange: (deploymentId, state, reason) => observer.breakerChange(deploymentId, state, reason),
      configReload: (result, detail) => observer.configReload(result, detail),
    };
  }

  /** Throws rate_limit_exceeded when too many watch, draining when the gateway is closing. */
  open(asked: TailOptions): ReadableStream<Uint8Array> {
    if (this.#closed)
      throw new Failure("draining", "The gateway is shutting down; try again.", { retryAfterMs: 1_000 });
    const own = [...this.#listeners].filter(({ userId }) => userId === asked.userId).length;
    if (own >= bounds.tailsPerUserMax) throw tooMany(`${own} live views of yours are open. Close one.`);
    if (this.#listeners.size >= bounds.tailsMax) throw tooMany("As many live views are open as there may be.");
    const listener = new TailListener({
      ...asked,
      clock: this.#options.clock,
      named: (row) => this.#named(row),
      ended: (one) => this.#listeners.delete(one),
    });
    this.#listeners.add(listener);
    return listener.stream();
  }

  /** Ends every view, so that none keeps the gateway from closing; whoever watched comes back to the next process. */
  close(): void {
    this.#closed = true;
    for (const listener of [...this.#listeners]) listener.end("closing");
  }

  #tell(entry: LedgerEntry): void {
    let row: RequestRow | null = null;
    for (const listener of this.#listeners) {
      if (!listener.watches(entry.workspaceId)) continue;
      row ??= rowOf(entry, this.#options.catalog());
      listener.take(row);
    }
  }

  async #named(row: RequestRow): Promise<RequestRow> {
    const name = await this.#keyNames.nameOf(row.key.id).catch(() => "");
    return { ...row, key: { id: row.key.id, name } };
  }
}

function tooMany(message: string): Failure {
  return new Failure("rate_limit_exceeded", message, { retryAfterMs: bounds.keepAliveMs });
}
