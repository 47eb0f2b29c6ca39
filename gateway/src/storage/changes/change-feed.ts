import { bounds } from "#core/index.ts";
import type { Broadcast, Change, Clock, Observer } from "#ports/index.ts";
import type { Database } from "../database/database.ts";
import { compiledOnce } from "../database/written-once.ts";

export interface ChangeFeedOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Says when to ask at once. What it does not say is found by asking anyhow. */
  readonly broadcast?: Broadcast;
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

/**
 * Reports the changes that any process makes, this one included, within bounds.changePollMs.
 *
 * Asks the database every bounds.changePollMs what has changed, while anybody listens; sooner when it is told to. Subscribe and catch
 * up before reading what the changes are about: a change that falls between is then told, never missed. A database that does not
 * answer is asked again; what happened meanwhile is told later, in order. Where it did not answer at the beginning nobody
 * knows what that was, so the configuration is told to have changed.
 */
export function createChangeFeed(options: ChangeFeedOptions) {
  const listeners = new Set<(change: Change) => void>();
  let poll: ReturnType<typeof startPoll> | null = null;
  return {
    /** Calls `listener` for each change, in order, until the returned function is called; all that is written once `catchUp` has resolved is told. */
    subscribe(listener: (change: Change) => void): () => void {
      // Wrapped, so that one function given twice is two subscriptions.
      const entry = (change: Change) => listener(change);
      listeners.add(entry);
      poll ??= startPoll(options, listeners);
      return () => {
        if (!listeners.delete(entry) || listeners.size > 0) return;
        poll?.stop();
        poll = null;
      };
    },
    /** Resolves when all changes written until now were reported. For a process that must see its own writes at once. */
    catchUp: async (): Promise<void> => await poll?.catchUp(),
    /** Monotonic milliseconds: every change written before then was reported. */
    get currentAtMs(): number {
      return poll?.currentAtMs ?? Number.NEGATIVE_INFINITY;
    },
  };
}

/** Rows of one read; the rest follows in the next. */
const rowsMax = 1_000;

function startPoll(options: ChangeFeedOptions, listeners: ReadonlySet<(change: Change) => void>) {
  const { database, clock, observer, broadcast } = options;
  const { reading } = database;
  // Of all that a process without calls asks, it is asked most often.
  const changesAfter = compiledOnce((place: (name: "after") => never) =>
    reading
      .selectFrom("changes")
      .select(["seq", "kind", "digest"])
      .where("seq", ">", place("after"))
      .orderBy("seq")
      .limit(rowsMax),
  );
  let stopped = false;
  let takeBack = (): void => undefined;
  let seen: number | null = null;
  let failing = false;
  let currentAtMs = Number.NEGATIVE_INFINITY;

  /** Whether there is more to read. */
  const read = async (): Promise<boolean> => {
    const askedMs = clock.monotonic();
    try {
      if (seen === null) {
        const begun = await lastChange(database);
        if (failing) tell({ kind: "config" }, listeners, observer);
        seen = begun;
      }
      const { rows } = await reading.executeQuery(changesAfter({ after: seen }));
      failing = false;
      for (const { seq, kind, digest } of rows) {
        if (stopped) return false;
        seen = seq;
        tell(kind === "key" && digest !== null ? { kind: "key", digest } : { kind: "config" }, listeners, observer);
      }
      const hasMore = rows.length === rowsMax;
      if (!hasMore) currentAtMs = askedMs;
      return hasMore;
    } catch (error) {
      if (!failing) observer.log("warn", "The database does not say what has changed; asking again.", { error });
      failing = true;
      return false;
    }
  };
  // One reading at a time, so that every change is told once and in order.
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
    if (!stopped) takeBack = clock.after(bounds.changePollMs, () => void turn());
  };
  // However many words come while one reading waits, one more reading hears them all.
  let hurried = false;
  const hurry = (): void => {
    if (hurried) return;
    hurried = true;
    last = last.then(() => {
      hurried = false;
      return read();
    });
    void last.then((more) => (more ? catchUp() : undefined));
  };
  const unsubscribe = broadcast?.subscribe("change", hurry);
  void turn();
  return {
    stop() {
      stopped = true;
      unsubscribe?.();
      takeBack();
    },
    catchUp,
    get currentAtMs() {
      return currentAtMs;
    },
  };
}

function tell(change: Change, listeners: ReadonlySet<(change: Change) => void>, observer: Observer): void {
  for (const listener of listeners) {
    try {
      listener(change);
    } catch (error) {
      observer.log("error", "A listener for changes failed.", { kind: change.kind, error });
    }
  }
}

/** The number of the newest change; 0 before the first. */
export async function lastChange(database: Pick<Database, "kysely">): Promise<number> {
  const row = await database.kysely
    .selectFrom("changes")
    .select((eb) => eb.fn.max("seq").as("seq"))
    .executeTakeFirst();
  return Number(row?.seq ?? 0);
}
