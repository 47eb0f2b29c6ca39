import { bounds, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Database, ServerSession } from "../database/database.ts";
import { type SchemaState, schemaState } from "../database/migrate.ts";
import { isFull, isSilent } from "../database/postgres/postgres-problems.ts";
import type { DatabaseWatch } from "./database-watch.ts";

/** Timeout of a ping, and additional real time for a busy process to read an answer that has arrived. */
export const postgresPingMsMax = 4_000;
const postgresPingReadMs = 1_000;

export interface PostgresWatchOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Pings a PostgreSQL server every bounds.postgresPingMs over its own connection, because the pools may be busy. States:
 * - up: it answers.
 * - slow: no answer to the ping, but to other statements. A remark; nothing is refused.
 * - unreachable: no answer or no connection. The breaker is open, so that statements fail at once.
 * Calls with cached keys continue and their entries wait in the journal. So this is a remark, not a reason to take the gateway out of
 * service, which would affect all processes at once.
 */
export function watchPostgres(options: PostgresWatchOptions): DatabaseWatch {
  const watch = new PostgresWatch(options);
  watch.begin();
  return watch;
}

interface Answer {
  readonly isReadOnly: boolean;
  /** Number and name of the latest migration. */
  readonly schema: string | null;
}

class PostgresWatch implements DatabaseWatch {
  readonly problem = null;
  remark: string | null = null;
  readonly #options: PostgresWatchOptions;
  #laterMigration: string | null = null;
  #schema: string | null = null;
  #closed = false;
  #cancelPing = (): void => undefined;
  #pinging: Promise<void> = Promise.resolve();
  #session: ServerSession | null = null;
  /** At most one connection attempt at a time. */
  #opening: Promise<ServerSession | null> | null = null;

  constructor(options: PostgresWatchOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#closed) return;
    this.#cancelPing = this.#options.clock.after(bounds.postgresPingMs, () => {
      this.#pinging = this.#ping().then(() => this.begin());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelPing();
    await this.#session?.end();
    await this.#pinging;
    await this.#session?.end();
  }

  async #ping(): Promise<void> {
    const { breaker } = this.#options.database;
    const answersBefore = breaker?.answers;
    let isWaiting = true;
    try {
      const pending = this.#query(() => isWaiting);
      const answer =
        (await within(this.#options.clock, postgresPingMsMax, pending, () => null)) ?? (await lateAnswer(pending));
      if (this.#closed) return;
      if (answer !== null) await this.#onAnswer(answer);
      else {
        if (breaker?.answers === answersBefore) this.#onUnreachable("it does not answer");
        else this.#setRemark("the database is slow");
        await this.#session?.end();
      }
    } catch (thrown) {
      if (this.#closed) return;
      // The server's message may contain details that are not public.
      if (isFull(thrown)) this.#setRemark("the database has no connection left for this process");
      else this.#onUnreachable(isSilent(thrown) ? "it does not answer" : "it refuses connections");
    } finally {
      isWaiting = false;
    }
  }

  async #query(isWaiting: () => boolean): Promise<Answer> {
    const session = await this.#connected();
    // Only the last of several waiting pings is sent.
    if (!isWaiting()) throw new Error("the answer is not needed anymore");
    const [row] = await session.run(`
      select current_setting('transaction_read_only') as reading,
        (select count(*) || ' ' || max(name) from migrations) as schema`);
    const { reading, schema } = row as { readonly reading: string; readonly schema: string | null };
    return { isReadOnly: reading === "on", schema };
  }

  async #connected(): Promise<ServerSession> {
    if (this.#session !== null && !this.#session.isOver) return this.#session;
    this.#opening ??= this.#open().finally(() => (this.#opening = null));
    const session = await this.#opening;
    if (session === null) throw new Error("the watch is closed");
    return session;
  }

  async #open(): Promise<ServerSession | null> {
    const session = (await this.#options.database.openSession?.()) ?? null;
    if (this.#closed) {
      await session?.end();
      return null;
    }
    this.#session = session;
    return session;
  }

  async #onAnswer({ isReadOnly, schema }: Answer): Promise<void> {
    const { database, observer } = this.#options;
    if (database.breaker?.isOpen === true) observer.log("info", "PostgreSQL available again");
    database.breaker?.close();
    this.#setRemark(isReadOnly ? "the database is read-only" : null);
    if (schema === this.#schema) return;
    const state = await schemaState(database).catch(() => null);
    if (state === null) return;
    this.#logLaterVersion(state);
    this.#schema = schema;
  }

  #onUnreachable(why: string): void {
    const { database, observer } = this.#options;
    if (database.breaker?.isOpen === false) {
      observer.log("error", "PostgreSQL unavailable; buffering ledger entries in the journal", { why });
    }
    database.breaker?.open();
    this.#setRemark(`the database is unreachable: ${why}`);
  }

  #setRemark(remark: string | null): void {
    if (remark !== null && remark !== this.remark && this.#options.database.breaker?.isOpen !== true) {
      this.#options.observer.log("warn", "PostgreSQL is impaired", { why: remark });
    }
    this.remark = remark;
  }

  /** During an upgrade, versions run side by side. */
  #logLaterVersion({ state, unknown }: SchemaState): void {
    const later = unknown.at(-1) ?? null;
    if (later === this.#laterMigration) return;
    this.#laterMigration = later;
    if (later === null) return;
    const [level, text] =
      state === "ahead"
        ? (["warn", "The database was migrated by a later, compatible version. Upgrade this process soon."] as const)
        : ([
            "error",
            "The database was migrated by a later version that is incompatible with this one. Upgrade this process now.",
          ] as const);
    this.#options.observer.log(level, text, { migrations: unknown });
  }
}

/** An answer may have arrived without having been read. null: it has not. */
async function lateAnswer(answer: Promise<Answer>): Promise<Answer | null> {
  // Avoids an unhandled rejection.
  answer.catch(() => undefined);
  return await Promise.race([answer, Bun.sleep(postgresPingReadMs).then(() => null)]);
}
