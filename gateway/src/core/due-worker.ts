import { LastingFault } from "./lasting-fault.ts";
import { Sleeper } from "./wait.ts";

/** Rows that become due, in a database that several processes may share. Times are Unix milliseconds. */
interface DueRowsReader<Row> {
  /** When the first row is due; null: none. */
  next(): Promise<number | null>;
  /** Leases due rows. Their due time becomes the end of the lease. */
  lease(now: number, leaseMs: number, limit: number): Promise<readonly Row[]>;
}

interface DueWorkerOptions<Row> {
  readonly rows: DueRowsReader<Row>;
  /** Longer than the work on a row. */
  readonly leaseMs: number;
  readonly atOnceMax: number;
  /** Shortest and longest wait between checks. */
  readonly tickMs: number;
  readonly restMs: number;
  /** The name of a row in log messages. */
  readonly noun: string;
  /** `leaseUntil` is the due time of the row under the lease. */
  readonly work: (row: Row, leaseUntil: number, signal: AbortSignal) => Promise<void>;
  readonly clock: ConstructorParameters<typeof Sleeper>[0] & { now(): number; monotonic(): number };
  readonly observer: ConstructorParameters<typeof LastingFault>[0]["observer"];
}

/**
 * Leases and processes due rows.
 *
 * idle: the next check is at the next due time, or after restMs to find rows of other processes. busy: a check every tickMs.
 */
export class DueWorker<Row extends { readonly id: string }> {
  readonly #options: DueWorkerOptions<Row>;
  readonly #active = new Set<Promise<void>>();
  readonly #end = new AbortController();
  readonly #sleeper: Sleeper;
  #running: Promise<void> | null = null;
  /** Woken during a check: another follows at once. */
  #isWoken = false;
  readonly #storeFault: LastingFault;

  constructor(options: DueWorkerOptions<Row>) {
    this.#options = options;
    const { clock, observer, noun } = options;
    this.#sleeper = new Sleeper(clock);
    const fault = `failed to read due ${noun}s; retrying`;
    this.#storeFault = new LastingFault({ clock, observer, level: "warn", fault, over: `due ${noun}s are read again` });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  wake(): void {
    this.#isWoken = true;
    this.#sleeper.wake();
  }

  /** Aborts running work, which stays due. */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#sleeper.end();
    await this.#running;
    await Promise.all(this.#active);
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#isWoken = false;
      const restMs = await this.#poll();
      if (!this.#isWoken) await this.#sleeper.sleep(restMs);
    }
  }

  /** Resolves to the wait until the next check. Never rejects. */
  async #poll(): Promise<number> {
    const { rows, clock, leaseMs, atOnceMax, tickMs, restMs } = this.#options;
    const free = atOnceMax - this.#active.size;
    if (free <= 0) return tickMs;
    const now = clock.now();
    try {
      let next = this.#active.size > 0 ? now : await rows.next();
      // Leasing is a write, so skip it while nothing is due.
      if (next !== null && next <= now) {
        const due = await rows.lease(now, leaseMs, free);
        for (const row of due) this.#take(row, now + leaseMs);
        if (this.#active.size === 0) next = await rows.next();
      }
      this.#storeFault.succeeded();
      return Math.min(Math.max((next ?? Number.POSITIVE_INFINITY) - now, tickMs), restMs);
    } catch (thrown) {
      this.#storeFault.failed({ error: thrown });
      return tickMs;
    }
  }

  #take(row: Row, leaseUntil: number): void {
    const { observer, noun, work } = this.#options;
    const pass = work(row, leaseUntil, this.#end.signal)
      .catch((thrown: unknown) => {
        const facts = { [noun]: row.id, error: thrown };
        observer.log("warn", `failed to process a due ${noun}; retrying when its lease ends`, facts);
      })
      .finally(() => {
        this.#active.delete(pass);
        this.wake();
      });
    this.#active.add(pass);
  }
}
