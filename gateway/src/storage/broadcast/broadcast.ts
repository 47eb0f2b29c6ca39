import { sql } from "kysely";
import { bounds, Sleeper, within } from "#core/index.ts";
import type { Broadcast, BroadcastTopic, Clock, Observer } from "#ports/index.ts";
import type { Database, ServerSession } from "../database/database.ts";

/** A listening session must receive its own message this often. */
const broadcastPingMs = 30_000;
export const broadcastAnswerMs = 5_000;
/** The wait before the next try doubles. */
export const broadcastRetryMs = 500;
const broadcastRetryMsMax = 60_000;
/** Messages that wait, and messages in one statement. */
const broadcastWaitingMax = 500;
const broadcastTogetherMax = 50;
/** Also in a trigger of migration 001, so it must not change. */
const broadcastChannel = "sluice";

interface BroadcastOptions {
  readonly database: Database;
  /** The id of this process, to recognize its own messages. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
}

type Listener = (text: string) => void;

/** Only PostgreSQL can broadcast; an SQLite installation has one process. */
export function openBroadcast(options: BroadcastOptions): Broadcast {
  return options.database.openSession === undefined ? noBroadcast : new PostgresBroadcast(options);
}

const noBroadcast: Broadcast = {
  send: () => undefined,
  subscribe: () => () => undefined,
  isUp: false,
  close: async () => undefined,
};

/**
 * NOTIFY and LISTEN. The listening session proves itself by receiving its own messages: at the start, because some poolers accept LISTEN
 * without delivering, and repeatedly, because a dead connection is silent too. Waiting messages are sent together.
 */
export class PostgresBroadcast implements Broadcast {
  readonly #options: BroadcastOptions;
  readonly #listeners = new Map<BroadcastTopic, Set<Listener>>();
  readonly #sleeper: Sleeper;
  readonly #running: Promise<void>;
  #isUp = false;
  #closed = false;
  #awaitedPing: { readonly proof: string; readonly resolve: (arrived: boolean) => void } | null = null;
  #pings = 0;
  #warned = false;
  #waiting: string[] = [];
  #sending: Promise<void> | null = null;

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
    this.#sending ??= this.#sendWaiting();
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
    this.#awaitedPing?.resolve(false);
    await Promise.all([this.#running, this.#sending]);
  }

  async #run(): Promise<void> {
    let restMs: number = broadcastRetryMs;
    while (!this.#closed) {
      const wasUp = await this.#listen();
      restMs = wasUp ? broadcastRetryMs : Math.min(restMs * 2, broadcastRetryMsMax);
      await this.#sleeper.sleep(restMs);
    }
  }

  /** From connect to disconnect. Resolves to whether messages arrived. */
  async #listen(): Promise<boolean> {
    const { database, clock, observer } = this.#options;
    let session: ServerSession | null = null;
    let proven = false;
    try {
      session = (await database.openSession?.()) ?? null;
      if (session === null) return false;
      const opened = session;
      opened.onNotice = (payload) => this.#onNotice(payload);
      opened.onEnd = () => this.#onDisconnect();
      // Closing the session rejects the statement if the server is silent.
      const stop = clock.after(broadcastAnswerMs, () => void opened.end());
      await opened.run(`listen ${broadcastChannel}`).finally(stop);
      while (!this.#closed && (await this.#ping())) {
        if (!proven) {
          // Changes may have been missed while not listening.
          this.#deliver("change", "");
          this.#warned = false;
        }
        proven = true;
        this.#isUp = true;
        await this.#sleeper.sleep(broadcastPingMs);
        if (session.isOver) break;
      }
      if (!proven && !this.#closed && !session.isOver) this.#warnNoDelivery();
    } catch (error) {
      observer.log("debug", "failed to listen for PostgreSQL notifications; retrying", { error });
    } finally {
      this.#isUp = false;
      await session?.end();
    }
    return proven;
  }

  #onNotice(payload: string): void {
    const [origin = "", topic = "", ...words] = payload.split(" ");
    const text = words.join(" ");
    if (origin !== this.#options.instanceId) this.#deliver(topic as BroadcastTopic, text);
    else if (topic === "proof" && this.#awaitedPing?.proof === text) this.#awaitedPing.resolve(true);
  }

  #deliver(topic: BroadcastTopic, text: string): void {
    for (const listener of this.#listeners.get(topic) ?? []) {
      try {
        listener(text);
      } catch (error) {
        this.#options.observer.log("error", "broadcast listener failed", { topic, error });
      }
    }
  }

  /** Notifies itself over another connection and waits for the message. */
  async #ping(): Promise<boolean> {
    const { clock, instanceId } = this.#options;
    const proof = String(++this.#pings);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#awaitedPing = { proof, resolve };
    this.#notify([`${instanceId} proof ${proof}`]).catch(() => resolve(false));
    return await within(clock, broadcastAnswerMs, promise, () => false).finally(() => {
      this.#awaitedPing = null;
    });
  }

  #onDisconnect(): void {
    this.#isUp = false;
    this.#sleeper.wake();
    this.#awaitedPing?.resolve(false);
  }

  #warnNoDelivery(): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.observer.log(
      "warn",
      "PostgreSQL notifications do not arrive; a pooler may share sessions (PgBouncer: use pool_mode=session); " +
        "polling for changes instead, and live views show requests of one process only",
      { askedEachMs: bounds.changePollMs },
    );
  }

  async #sendWaiting(): Promise<void> {
    // Collect what is sent in this turn of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const payloads = this.#waiting.splice(0, broadcastTogetherMax);
      // Best effort: lost messages are not repeated.
      await this.#notify(payloads).catch(() => undefined);
    }
    this.#sending = null;
  }

  async #notify(payloads: readonly string[]): Promise<void> {
    const calls = payloads.map((payload) => sql`pg_notify(${sql.lit(broadcastChannel)}, ${payload})`);
    await sql`select ${sql.join(calls)}`.execute(this.#options.database.kysely);
  }
}
