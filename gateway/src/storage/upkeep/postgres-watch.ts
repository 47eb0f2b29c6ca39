import { sql } from "kysely";
import { bounds, Failure } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { type SchemaState, schemaState } from "../database/migrate.ts";
import type { DatabaseWatch } from "./database-watch.ts";

export interface PostgresWatchOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

/**
 * Asks a PostgreSQL server now and then whether it answers: rarely while it does, since others who are left without an answer say so. While it does not, calls of keys that this process knows go on and their
 * entries wait in the journal, so this is a remark and no reason to be given no calls: all processes would lose them at once.
 */
export function watchPostgres(options: PostgresWatchOptions): DatabaseWatch {
  const watch = new PostgresWatch(options);
  watch.begin();
  return watch;
}

class PostgresWatch implements DatabaseWatch {
  readonly problem = null;
  remark: string | null = null;
  readonly #options: PostgresWatchOptions;
  #later: string | null = null;
  /** How many migrations there were at the last look, and the last of them. */
  #schema: string | null = null;
  #closed = false;
  #isResting = false;
  #unbook = (): void => undefined;
  #asked: Promise<void> = Promise.resolve();
  /** A question that is still open: a server that is silent is not asked another. */
  #open: Promise<string | null> | null = null;

  constructor(options: PostgresWatchOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#closed) return;
    const restMs = this.remark === null ? bounds.postgresCalmMs : bounds.postgresPingMs;
    this.#unbook = this.#options.clock.after(restMs, () => this.#look());
    this.#isResting = true;
  }

  doubt(): void {
    if (!this.#isResting || this.remark !== null) return;
    this.#unbook();
    this.#look();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#isResting = false;
    this.#unbook();
    await this.#asked;
  }

  #look(): void {
    this.#isResting = false;
    this.#asked = this.#ask().then(() => this.begin());
  }

  async #ask(): Promise<void> {
    const late = Promise.withResolvers<string>();
    const unbook = this.#options.clock.after(bounds.postgresPingMsMax, () => late.resolve("it does not answer"));
    this.#open ??= this.#answered().finally(() => (this.#open = null));
    const why = await Promise.race([this.#open, late.promise]);
    unbook();
    if (!this.#closed) this.#found(why);
  }

  /** Null: it answered, and may be written to. */
  async #answered(): Promise<string | null> {
    const { kysely } = this.#options.database;
    try {
      const { rows } = await sql<{ reading: string; schema: string }>`
        select current_setting('transaction_read_only') as reading,
          (select count(*) || ' ' || max(name) from migrations) as schema`.execute(kysely);
      const schema = rows[0]?.schema ?? null;
      if (schema !== this.#schema) {
        this.#tellLater(await schemaState(this.#options.database));
        this.#schema = schema;
      }
      return rows[0]?.reading === "on" ? "it takes no writes: it is a standby, or was made read-only" : null;
    } catch (thrown) {
      // What a server says may hold more than is for everybody.
      return thrown instanceof Failure ? thrown.message : "it refuses to be read";
    }
  }

  #found(why: string | null): void {
    const { observer } = this.#options;
    const remark = why === null ? null : `the database is not to be had: ${why}`;
    const before = this.remark;
    this.remark = remark;
    if (before === null && why !== null) {
      observer.log("error", "PostgreSQL is not to be had. Calls go on, and their entries wait in the journal.", {
        why,
      });
    }
    if (before !== null && why === null) observer.log("info", "PostgreSQL is there again.");
  }

  /** Versions run side by side while they are being replaced; what a later one has only added harms nobody. */
  #tellLater({ state, unknown }: SchemaState): void {
    const later = unknown.at(-1) ?? null;
    if (later === this.#later) return;
    this.#later = later;
    if (later === null) return;
    const { observer } = this.#options;
    const facts = { migrations: unknown };
    if (state === "ahead") {
      observer.log(
        "warn",
        "A later version has migrated the database; this one works on it too. Replace it soon.",
        facts,
      );
    } else {
      observer.log(
        "error",
        "A later version has migrated the database, and this one does not work on it: replace it now.",
        facts,
      );
    }
  }
}
