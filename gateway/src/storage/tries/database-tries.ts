import { sql } from "kysely";
import { BoundedMap, bounds, tryWaitMs, windowNow } from "#core/index.ts";
import type { Clock, OpenTries, Tries, TryResult, TryRule, Vault } from "#ports/index.ts";
import { type Database, databaseNow } from "../database/database.ts";

/** Maximum rows, interval of cleanups, and how long a process caches a refusal. */
const triersStoredMax = 100_000;
const triesSweepMs = 600_000;
const triesCachedMs = 1_000;

export interface DatabaseTriesOptions {
  readonly database: Database;
  readonly vault: Pick<Vault, "digest">;
  /** For the cache of refusals; windows use the database's clock. */
  readonly clock: Pick<Clock, "monotonic">;
}

/**
 * Counts tries of all processes on one database. Only digests of keys are stored, because what was typed as an account may be a password.
 */
export function createDatabaseTries(options: DatabaseTriesOptions): OpenTries {
  return (rule) => new DatabaseTries(rule, options);
}

class DatabaseTries implements Tries {
  readonly #rule: TryRule;
  readonly #options: DatabaseTriesOptions;
  /** Until when keys have to wait, so that repeated guesses do not reach the database. */
  readonly #waiting: BoundedMap<string, number>;
  #sweepAtMs: number;

  constructor(rule: TryRule, options: DatabaseTriesOptions) {
    this.#rule = rule;
    this.#options = options;
    const { clock } = options;
    this.#waiting = new BoundedMap(bounds.triersMax, { life: { clock, ms: triesCachedMs } });
    this.#sweepAtMs = clock.monotonic() + triesSweepMs;
  }

  async take(keys: readonly string[]): Promise<TryResult> {
    const nowMs = this.#options.clock.monotonic();
    const knownMs = Math.max(0, ...keys.map((key) => (this.#waiting.get(key) ?? nowMs) - nowMs));
    if (knownMs > 0) return { waitMs: knownMs, isLast: false };
    await this.#sweep(nowMs);
    const byName = new Map(keys.map((key) => [this.#nameOf(key), key]));
    // All transactions lock in the same order.
    const names = [...byName.keys()].sort();
    const { database } = this.#options;
    return await database.kysely.transaction().execute(async (transaction) => {
      const rows = await transaction
        .insertInto("tries")
        .values(names.map((name) => ({ name, count: 0, used_up: 0, length_ms: 0, ends_at: 0 })))
        .onConflict((conflict) => conflict.column("name").doUpdateSet({ count: sql<number>`tries.count` }))
        .returning(["name", "count", "length_ms", "ends_at", databaseNow(database).as("now")])
        .execute();
      // The latest time is from after all locks were taken.
      const now = Math.max(...rows.map((row) => row.now));
      const windows = rows.map((row) => {
        const known = { count: row.count, lengthMs: row.length_ms, endsAt: row.ends_at };
        return { name: row.name, window: windowNow(known, this.#rule, now) };
      });
      const waits = windows.map(({ name, window }) => ({ name, waitMs: tryWaitMs(window, this.#rule, now) }));
      const waitMs = Math.max(0, ...waits.map((wait) => wait.waitMs));
      if (waitMs > 0) {
        for (const wait of waits) {
          if (wait.waitMs > 0) this.#waiting.set(byName.get(wait.name) ?? "", nowMs + wait.waitMs);
        }
        return { waitMs, isLast: false };
      }
      for (const { name, window } of windows) {
        const count = window.count + 1;
        const used_up = count >= this.#rule.max ? 1 : 0;
        await transaction
          .updateTable("tries")
          .set({ count, used_up, length_ms: window.lengthMs, ends_at: window.endsAt })
          .where("name", "=", name)
          .execute();
      }
      return { waitMs: 0, isLast: windows.some(({ window }) => window.count + 1 >= this.#rule.max) };
    });
  }

  async giveBack(keys: readonly string[]): Promise<void> {
    const { kysely } = this.#options.database;
    // One by one: a single statement would lock in an order of its own.
    for (const key of keys) {
      await kysely
        .updateTable("tries")
        .set({ count: sql<number>`count - 1`, used_up: 0 })
        .where("name", "=", this.#nameOf(key))
        .where("count", ">", 0)
        .execute();
      this.#waiting.delete(key);
    }
  }

  async forget(key: string): Promise<void> {
    await this.#options.database.kysely.deleteFrom("tries").where("name", "=", this.#nameOf(key)).execute();
    this.#waiting.delete(key);
  }

  /** Deletes expired rows, then those over the maximum, used-up ones last. */
  async #sweep(nowMs: number): Promise<void> {
    if (nowMs < this.#sweepAtMs) return;
    this.#sweepAtMs = nowMs + triesSweepMs;
    const { database } = this.#options;
    await database.kysely
      .deleteFrom("tries")
      .where(sql<number>`ends_at + length_ms`, "<", databaseNow(database))
      .execute();
    const kept = database.kysely
      .selectFrom("tries")
      .select("name")
      .orderBy("used_up", "desc")
      .orderBy("ends_at", "desc")
      .orderBy("name")
      .limit(triersStoredMax);
    await database.kysely.deleteFrom("tries").where("name", "not in", kept).execute();
  }

  #nameOf(key: string): string {
    return this.#options.vault.digest(`tries\n${this.#rule.name}\n${key}`);
  }
}
