import { bounds } from "#core/index.ts";
import type { Broadcast, Change, Clock, Observer } from "#ports/index.ts";
import { compiledOnce } from "../database/compiled-once.ts";
import type { Database } from "../database/database.ts";

export interface ChangeFeedOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Prompts reads. Changes that it misses are found by polling. */
  readonly broadcast?: Broadcast;
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

/**
 * Reports changes made by any process, this one included, within bounds.changePollMs.
 * Subscribe and call `catchUp` before reading what the changes are about, so that changes in between are reported, not missed. While the
 * database is unavailable, polling continues, and changes are reported later in order. If it was unavailable at the start, a
 * configuration change is reported, because it is unknown what was missed.
 */
export function createChangeFeed(options: ChangeFeedOptions) {
  const listeners = new Set<(change: Change) => void>();
  let poll: ReturnType<typeof startPoll> | null = null;
  return {
    /**
     * Calls `listener` for each change in order, including all that are written after `catchUp` has resolved. The returned function
     * unsubscribes.
     */
    subscribe(listener: (change: Change) => void): () => void {
      // A new function, so that the same listener can be subscribed twice.
      const entry = (change: Change) => listener(change);
      listeners.add(entry);
      poll ??= startPoll(options, listeners);
      return () => {
        if (!listeners.delete(entry) || listeners.size > 0) return;
        poll?.stop();
        poll = null;
      };
    },
    /** Resolves when all changes written so far were reported. */
    catchUp: async (): Promise<void> => await poll?.catchUp(),
    /** Monotonic milliseconds. Every change written before then was reported. */
    get currentAtMs(): number {
      return poll?.currentAtMs ?? Number.NEGATIVE_INFINITY;
    },
  };
}

/** Per read. */
const rowsMax = 1_000;

function startPoll(options: ChangeFeedOptions, listeners: ReadonlySet<(change: Change) => void>) {
  const { database, clock, observer, broadcast } = options;
  const { reading } = database;
  // The most frequent statement of an idle process.
  const changesAfter = compiledOnce((place: (name: "after") => never) =>
    reading
      .selectFrom("changes")
      .select(["seq", "kind", "digest"])
      .where("seq", ">", place("after"))
      .orderBy("seq")
      .limit(rowsMax),
  );
  let stopped = false;
  let cancelPoll = (): void => undefined;
  let seen: number | null = null;
  let failing = false;
  let currentAtMs = Number.NEGATIVE_INFINITY;

  /** Returns whether there is more to read. */
  const read = async (): Promise<boolean> => {
    const askedMs = clock.monotonic();
    try {
      if (seen === null) {
        const begun = await lastChange(database);
        if (failing) notify({ kind: "config" }, listeners, observer);
        seen = begun;
      }
      const { rows } = await reading.executeQuery(changesAfter({ after: seen }));
      failing = false;
      for (const { seq, kind, digest } of rows) {
        if (stopped) return false;
        seen = seq;
        notify(kind === "key" && digest !== null ? { kind: "key", digest } : { kind: "config" }, listeners, observer);
      }
      const hasMore = rows.length === rowsMax;
      if (!hasMore) currentAtMs = askedMs;
      return hasMore;
    } catch (error) {
      if (!failing) observer.log("warn", "failed to read changes from the database; retrying", { error });
      failing = true;
      return false;
    }
  };
  // One read at a time keeps changes in order and unique.
  let last: Promise<boolean> = Promise.resolve(false);
  const readInTurn = (): Promise<boolean> => {
    last = last.then(read);
    return last;
  };
  const catchUp = async (): Promise<void> => {
    while (!stopped && (await readInTurn())) {}
  };
  const turn = async (): Promise<void> => {
    await catchUp();
    if (!stopped) cancelPoll = clock.after(bounds.changePollMs, () => void turn());
  };
  // Any number of broadcasts during a read cause one more read.
  let isReadPending = false;
  const readSoon = (): void => {
    if (isReadPending) return;
    isReadPending = true;
    last = last.then(() => {
      isReadPending = false;
      return read();
    });
    void last.then((more) => (more ? catchUp() : undefined));
  };
  const unsubscribe = broadcast?.subscribe("change", readSoon);
  void turn();
  return {
    stop() {
      stopped = true;
      unsubscribe?.();
      cancelPoll();
    },
    catchUp,
    get currentAtMs() {
      return currentAtMs;
    },
  };
}

function notify(change: Change, listeners: ReadonlySet<(change: Change) => void>, observer: Observer): void {
  for (const listener of listeners) {
    try {
      listener(change);
    } catch (error) {
      observer.log("error", "change listener failed", { kind: change.kind, error });
    }
  }
}

/** Number of the newest change; 0: none. */
export async function lastChange(database: Pick<Database, "kysely">): Promise<number> {
  const row = await database.kysely
    .selectFrom("changes")
    .select((eb) => eb.fn.max("seq").as("seq"))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}
