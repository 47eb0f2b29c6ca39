import { sql } from "kysely";
import { bounds, Sleeper, within } from "#core/index.ts";
import type { Broadcast, BroadcastTopic, Clock, Observer } from "#ports/index.ts";
import type { Database, ServerSession } from "../database/database.ts";

/** By what the database can do: PostgreSQL carries words between its processes, SQLite does not. */
export function openBroadcast(options: BroadcastOptions): Broadcast {
  return options.database.openSession === undefined ? createSilentBroadcast() : createPostgresBroadcast(options);
}

/** A listening session is checked this often, and is lost when it does not receive its own message in time. */
const broadcastProofMs = 30_000;
export const broadcastAnswerMs = 5_000;
/** The wait before the next try doubles. */
export const broadcastRetryMs = 500;
const broadcastRetryMsMax = 60_000;

interface BroadcastOptions {
  readonly database: Database;
  /** The id of this process, by which it knows its own words. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

type Listener = (text: string) => void;

/**
 * NOTIFY and LISTEN. Listening needs a session of its own, and is proven by hearing oneself: at its start, because poolers that
 * share sessions take LISTEN and then tell nothing, and now and then, because a dead connection is silent too.
 */
export function createPostgresBroadcast(options: BroadcastOptions): Broadcast {
  const { instanceId } = options;
  const listeners = new Map<BroadcastTopic, Set<Listener>>();
  const outbox = new BroadcastOutbox(options);
  const tell = (topic: BroadcastTopic, text: string): void => {
    for (const listener of listeners.get(topic) ?? []) {
      try {
        listener(text);
      } catch (error) {
        options.observer.log("error", "A listener for other processes' words failed.", { topic, error });
      }
    }
  };
  const hearing = new Hearing(options, tell);
  return {
    send: (topic, text) => outbox.add(`${instanceId} ${topic} ${text}`),
    subscribe(topic, listener) {
      const entry: Listener = (text) => listener(text);
      const those = listeners.get(topic) ?? new Set();
      listeners.set(topic, those.add(entry));
      return () => those.delete(entry);
    },
    get isUp() {
      return hearing.isUp;
    },
    async close() {
      await Promise.all([hearing.close(), outbox.close()]);
    },
  };
}

/** The session that listens, from one loss to the next. */
class Hearing {
  readonly #options: BroadcastOptions;
  readonly #tell: (topic: BroadcastTopic, text: string) => void;
  readonly #running: Promise<void>;
  #isUp = false;
  #closed = false;
  readonly #sleeper: Sleeper;
  #heard: { readonly proof: string; readonly resolve: (heard: boolean) => void } | null = null;
  #proofs = 0;
  #toldDeaf = false;

  constructor(options: BroadcastOptions, tell: (topic: BroadcastTopic, text: string) => void) {
    this.#options = options;
    this.#tell = tell;
    this.#sleeper = new Sleeper(options.clock);
    this.#running = this.#run();
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sleeper.end();
    this.#heard?.resolve(false);
    await this.#running;
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

  /** Speaks to itself over another connection, and waits to hear it. */
  async #prove(): Promise<boolean> {
    const { clock, database, instanceId } = this.#options;
    const proof = String(++this.#proofs);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#heard = { proof, resolve };
    BroadcastOutbox.notify(database, [`${instanceId} proof ${proof}`]).catch(() => resolve(false));
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
}

/** Also in a trigger of migration 028, so it stays as it is. */
const broadcastChannel = "sluice";

/** Messages that wait, and those sent together. */
const broadcastWaitingMax = 500;
const broadcastTogetherMax = 50;

/** Words that wait to be said: one statement at a time says what has gathered meanwhile. */
class BroadcastOutbox {
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

/** Where there is one process, nobody else is spoken to. */
function createSilentBroadcast(): Broadcast {
  return {
    send: () => undefined,
    subscribe: () => () => undefined,
    isUp: false,
    close: async () => undefined,
  };
}
