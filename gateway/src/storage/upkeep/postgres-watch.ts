import { bounds, within } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Database, ServerSession } from "../database/database.ts";
import { type SchemaState, schemaState } from "../database/migrate.ts";
import { isFull, isSilent } from "../database/postgres/postgres-problems.ts";
import type { DatabaseWatch } from "./database-watch.ts";

/** How long one ping waits, and in real time beyond that: a busy process may not have read an answer that has come. */
export const postgresPingMsMax = 4_000;
const postgresPingReadMs = 1_000;

export interface PostgresWatchOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Asks a PostgreSQL server every bounds.postgresPingMs whether it answers, on a connection of its own: the pools may be busy.
 *
 *   answers ──no answer, or no connection──▶ unreachable: the breaker is open, so that nobody waits
 *   answers ──no answer, but others have one──▶ slow: a remark, nothing is refused
 *   unreachable ──answers──▶ answers
 *
 * Calls of known keys go on meanwhile and their entries wait in the journal, so this is a remark and no reason to be given no
 * calls: all processes would lose them at once.
 */
export function watchPostgres(options: PostgresWatchOptions): DatabaseWatch {
  const watch = new PostgresWatch(options);
  watch.begin();
  return watch;
}

interface Answer {
  readonly isReadOnly: boolean;
  /** How many migrations there are, and the last of them. */
  readonly schema: string | null;
}

class PostgresWatch implements DatabaseWatch {
  readonly problem = null;
  remark: string | null = null;
  readonly #options: PostgresWatchOptions;
  #later: string | null = null;
  #schema: string | null = null;
  #closed = false;
  #unbook = (): void => undefined;
  #asked: Promise<void> = Promise.resolve();
  #session: ServerSession | null = null;
  /** A connection that is being made: a server that is silent is not asked for another. */
  #opening: Promise<ServerSession | null> | null = null;

  constructor(options: PostgresWatchOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#closed) return;
    this.#unbook = this.#options.clock.after(bounds.postgresPingMs, () => {
      this.#asked = this.#look().then(() => this.begin());
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unbook();
    await this.#session?.end();
    await this.#asked;
    await this.#session?.end();
  }

  async #look(): Promise<void> {
    const { breaker } = this.#options.database;
    const answersBefore = breaker?.answers;
    let isWaiting = true;
    try {
      const asked = this.#ask(() => isWaiting);
      const answer = (await within(this.#options.clock, postgresPingMsMax, asked, () => null)) ?? (await atLast(asked));
      if (this.#closed) return;
      if (answer !== null) await this.#answered(answer);
      else {
        if (breaker?.answers === answersBefore) this.#unreachable("it does not answer");
        else this.#tell("the database is slow");
        await this.#session?.end();
      }
    } catch (thrown) {
      if (this.#closed) return;
      // What a server says may hold more than is for everybody.
      if (isFull(thrown)) this.#tell("the database has no connection left for this process");
      else this.#unreachable(isSilent(thrown) ? "it does not answer" : "it refuses connections");
    } finally {
      isWaiting = false;
    }
  }

  async #ask(isWaiting: () => boolean): Promise<Answer> {
    const session = await this.#connected();
    // Of all looks that waited for a connection, the last one asks on it.
    if (!isWaiting()) throw new Error("nobody waits for the answer any more");
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

  async #answered({ isReadOnly, schema }: Answer): Promise<void> {
    const { database, observer } = this.#options;
    if (database.breaker?.isOpen === true) observer.log("info", "PostgreSQL is available again.");
    database.breaker?.close();
    this.#tell(isReadOnly ? "the database takes no writes: it is a standby, or was made read-only" : null);
    if (schema === this.#schema) return;
    const state = await schemaState(database).catch(() => null);
    if (state === null) return;
    this.#tellLater(state);
    this.#schema = schema;
  }

  #unreachable(why: string): void {
    const { database, observer } = this.#options;
    if (database.breaker?.isOpen === false) {
      observer.log("error", "PostgreSQL unavailable; buffering ledger entries in the journal.", { why });
    }
    database.breaker?.open();
    this.#tell(`the database is unreachable: ${why}`);
  }

  #tell(remark: string | null): void {
    if (remark !== null && remark !== this.remark && this.#options.database.breaker?.isOpen !== true) {
      this.#options.observer.log("warn", "PostgreSQL does not answer as it should.", { why: remark });
    }
    this.remark = remark;
  }

  /** Versions run side by side while they are being replaced; what a later one has only added harms nobody. */
  #tellLater({ state, unknown }: SchemaState): void {
    const later = unknown.at(-1) ?? null;
    if (later === this.#later) return;
    this.#later = later;
    if (later === null) return;
    const [level, text] =
      state === "ahead"
        ? (["warn", "A later version has migrated the database; this one works on it too. Replace it soon."] as const)
        : ([
            "error",
            "A later version has migrated the database, and this one does not work on it: replace it now.",
          ] as const);
    this.#options.observer.log(level, text, { migrations: unknown });
  }
}

/** What has come in time may not have been read yet. null: nothing has. */
async function atLast(asked: Promise<Answer>): Promise<Answer | null> {
  // Nobody else waits for it any more.
  asked.catch(() => undefined);
  return await Promise.race([asked, Bun.sleep(postgresPingReadMs).then(() => null)]);
}
