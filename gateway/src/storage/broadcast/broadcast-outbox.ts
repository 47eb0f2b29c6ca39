import { sql } from "kysely";
import { bounds } from "#core/index.ts";
import type { Database } from "../database/database.ts";

/** Also in a trigger of migration 028, so it stays as it is. */
export const broadcastChannel = "sluice";

/** Messages that wait, and those sent together. */
const broadcastWaitingMax = 500;
const broadcastTogetherMax = 50;

/** Words that wait to be said: one statement at a time says what has gathered meanwhile. */
export class BroadcastOutbox {
  readonly #database: Database;
  #waiting: string[] = [];
  #saying: Promise<void> | null = null;
  #closed = false;

  constructor({ database }: { readonly database: Database }) {
    this.#database = database;
  }

  static async notify(database: Database, payloads: readonly string[]): Promise<void> {
    const calls = payloads.map((payload) => sql`pg_notify(${sql.lit(broadcastChannel)}, ${payload})`);
    await sql`select ${sql.join(calls)}`.execute(database.kysely);
  }

  add(payload: string): void {
    if (this.#closed || this.#waiting.length >= broadcastWaitingMax) return;
    if (Buffer.byteLength(payload) > bounds.broadcastTextBytesMax || payload.includes("\0")) return;
    this.#waiting.push(payload);
    this.#saying ??= this.#say();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting = [];
    await this.#saying;
  }

  async #say(): Promise<void> {
    // In a turn of its own, so that what is said together goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const payloads = this.#waiting.splice(0, broadcastTogetherMax);
      // A word that is lost is lost.
      await BroadcastOutbox.notify(this.#database, payloads).catch(() => undefined);
    }
    this.#saying = null;
  }
}
