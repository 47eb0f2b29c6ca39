import { sql } from "kysely";
import { bounds, Sleeper, within } from "#core/index.ts";
import type { Broadcast, BroadcastTopic, Clock, Observer } from "#ports/index.ts";
import type { Database, ServerSession } from "../database/database.ts";

/** A listening session is checked this often, and is lost when it does not receive its own message in time. */
const broadcastProofMs = 30_000;
export const broadcastAnswerMs = 5_000;
/** The wait before the next try doubles. */
export const broadcastRetryMs = 500;
const broadcastRetryMsMax = 60_000;
/** Messages that wait, and those sent together. */
const broadcastWaitingMax = 500;
const broadcastTogetherMax = 50;
/** Also in a trigger of migration 001, so it must not change. */
const broadcastChannel = "sluice";

interface BroadcastOptions {
  readonly database: Database;
  /** The id of this process, by which it knows its own words. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

type Listener = (text: string) => void;

/** By what the database can do: PostgreSQL carries words between its processes, SQLite does not. */
export function openBroadcast(options: BroadcastOptions): Broadcast {
  return options.database.openSession === undefined ? silence : new PostgresBroadcast(options);
}

/** Where there is one process, nobody else is spoken to. */
const silence: Broadcast = {
  send: () => undefined,
  subscribe: () => () => undefined,
  isUp: false,
  close: async () => undefined,
};

/**
 * NOTIFY and LISTEN. Listening needs a session of its own, and is proven by hearing oneself: at its start, because poolers that
 * share sessions take LISTEN and then tell nothing, and now and then, because a dead connection is silent too. Words that wait to
 * be said go together, one statement at a time.
 */
export class PostgresBroadcast implements Broadcast {
  readonly #options: BroadcastOptions;
  readonly #listeners = new Map<BroadcastTopic, Set<Listener>>();
  readonly #sleeper: Sleeper;
  readonly #running: Promise<void>;
  #isUp = false;
  #closed = false;
  #heard: { readonly proof: string; readonly resolve: (heard: boolean) => void } | null = null;
  #proofs = 0;
  #toldDeaf = false;
  #waiting: string[] = [];
  #saying: Promise<void> | null = null;

  constructor(options: BroadcastOptions) {
    this.#options = options;
    this.#sleeper = new Sleeper(options.clock);
    this.#running = this.#run();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  send(topic: BroadcastTopic, text: string): void {
    const payload = `${this.#options.instanceId} ${topic} ${text}`;
    if (this.#closed || this.#waiting.length >= broadcastWaitingMax) return;
    if (Buffer.byteLength(payload) > bounds.broadcastTextBytesMax || payload.includes("\0")) return;
    this.#waiting.push(payload);
    this.#saying ??= this.#say();
  }

  subscribe(topic: BroadcastTopic, listener: Listener): () => void {
    const entry: Listener = (text) => listener(text);
    const those = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, those.add(entry));
    return () => those.delete(entry);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#waiting = [];
    this.#sleeper.end();
    this.#heard?.resolve(false);
    await Promise.all([this.#running, this.#saying]);
  }

  async #run(): Promise<void> {
    let restMs: number = broadcastRetryMs;
    while (!this.#closed) {
      const wasUp = await this.#listen();
      restMs = wasUp ? broadcastRetryMs : Math.min(restMs * 2, broadcastRetryMsMax);
      await this.#sleeper.sleep(restMs);
    }
  }

  /** From a connection to its end. Resolves to whether words were heard on it. */
  async #listen(): Promise<boolean> {
    const { database, clock, observer } = this.#options;
    let session: ServerSession | null = null;
    let proven = false;
    try {
      session = (await database.openSession?.()) ?? null;
      if (session === null) return false;
      const opened = session;
      opened.onNotice = (payload) => this.#hear(payload);
      opened.onEnd = () => this.#lost();
      // A server that is silent ends here; the statement rejects with its connection.
      const stop = clock.after(broadcastAnswerMs, () => void opened.end());
      await opened.run(`listen ${broadcastChannel}`).finally(stop);
      while (!this.#closed && (await this.#prove())) {
        if (!proven) {
          // What was said while nobody listened: whoever waits for news looks once.
          this.#tell("change", "");
          this.#toldDeaf = false;
        }
        proven = true;
        this.#isUp = true;
        await this.#sleeper.sleep(broadcastProofMs);
        if (session.isOver) break;
      }
      if (!proven && !this.#closed && !session.isOver) this.#sayDeaf();
    } catch (error) {
      observer.log("debug", "PostgreSQL cannot be listened to; trying again.", { error });
    } finally {
      this.#isUp = false;
      await session?.end();
    }
    return proven;
  }

  #hear(payload: string): void {
    const [origin = "", topic = "", ...words] = payload.split(" ");
    const text = words.join(" ");
    if (origin !== this.#options.instanceId) this.#tell(topic as BroadcastTopic, text);
    else if (topic === "proof" && this.#heard?.proof === text) this.#heard.resolve(true);
  }

  #tell(topic: BroadcastTopic, text: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(text);
      } catch (error) {
        this.#options.observer.log("error", "A listener for other processes' words failed.", { topic, error });
      }
    }
  }

  /** Speaks to itself over another connection, and waits to hear it. */
  async #prove(): Promise<boolean> {
    const { clock, instanceId } = this.#options;
    const proof = String(++this.#proofs);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#heard = { proof, resolve };
    this.#notify([`${instanceId} proof ${proof}`]).catch(() => resolve(false));
    return await within(clock, broadcastAnswerMs, promise, () => false).finally(() => {
      this.#heard = null;
    });
  }

  #lost(): void {
    this.#isUp = false;
    this.#sleeper.wake();
    this.#heard?.resolve(false);
  }

  #sayDeaf(): void {
    if (this.#toldDeaf) return;
    this.#toldDeaf = true;
    this.#options.observer.log(
      "warn",
      "PostgreSQL's notices do not arrive; a pooler in between may share sessions (PgBouncer: pool_mode=session). " +
        "Changes are found by asking instead, and live views show the requests of one process.",
      { askedEachMs: bounds.changePollMs },
    );
  }

  async #say(): Promise<void> {
    // In a turn of its own, so that what is said together goes together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const payloads = this.#waiting.splice(0, broadcastTogetherMax);
      // A word that is lost is lost.
      await this.#notify(payloads).catch(() => undefined);
    }
    this.#saying = null;
  }

  async #notify(payloads: readonly string[]): Promise<void> {
    const calls = payloads.map((payload) => sql`pg_notify(${sql.lit(broadcastChannel)}, ${payload})`);
    await sql`select ${sql.join(calls)}`.execute(this.#options.database.kysely);
  }
}
