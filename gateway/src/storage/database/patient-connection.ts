import type { CompiledQuery, DatabaseConnection, QueryResult } from "kysely";
import { Failure } from "#core/index.ts";

/**
 * A connection that waits for another program's write without holding up the event loop. SQLite's own `busy_timeout`
 * sleeps in the calling thread, and with it everybody's calls. A statement that is told "busy" has done nothing, and
 * within a transaction nobody else has the lock, so it can be made again.
 */
export class PatientConnection implements DatabaseConnection {
  readonly #inner: DatabaseConnection;
  readonly #busyMs: number;

  constructor(inner: DatabaseConnection, busyMs: number) {
    this.#inner = inner;
    this.#busyMs = busyMs;
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    let waitMs = firstWaitMs;
    for (let leftMs = this.#busyMs; ; leftMs -= waitMs, waitMs = Math.min(waitMs * 2, waitMsMax)) {
      try {
        return await this.#inner.executeQuery<Row>(query);
      } catch (thrown) {
        if (!isBusy(thrown)) throw thrown;
        if (leftMs <= 0) throw lockedFor(this.#busyMs, thrown);
      }
      await Bun.sleep(Math.min(waitMs, leftMs));
    }
  }

  streamQuery<Row>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<Row>> {
    return this.#inner.streamQuery<Row>(query, chunkSize);
  }
}

const firstWaitMs = 1;
const waitMsMax = 25;

function lockedFor(busyMs: number, cause: unknown): Failure {
  const message = `The database is locked by another program for more than ${busyMs / 1_000} s. Try again.`;
  return new Failure("storage_unavailable", message, { cause, retryAfterMs: busyMs });
}

function isBusy(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && /^SQLITE_BUSY(_RECOVERY)?$/.test(String(thrown.code));
}
