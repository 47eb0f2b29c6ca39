import { type LedgerEntry, messageOf, within } from "#core/index.ts";
import type { AbandonedJournal, Clock, LedgerStore, Observer } from "#ports/index.ts";
import { recover } from "./recover.ts";

/** The interval between searches for journals of dead processes, and the number of entries recovered in one batch. */
const adoptionMs = 5_000;
const adoptionBatchMax = 100;

export interface AdoptionOptions {
  /** The journals of dead processes that this process can read now. Each stays locked until the next one is requested. */
  readonly abandoned: () => Iterable<AbandonedJournal> | AsyncIterable<AbandonedJournal>;
  readonly store: Pick<LedgerStore, "insert" | "insertChecks" | "price">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly hooks: AdoptionHooks;
}

/** Called with the results of a recovery. Both may be called again with the same, if the recovering process was killed meanwhile. */
export interface AdoptionHooks {
  /** Entries of the dead process that are now in the database, including entries that were there before it died. */
  readonly onStored?: (entries: readonly LedgerEntry[]) => void;
  /**
   * The whole journal is in the database, so the holds of that process may be released. `storedAgoMs`: milliseconds since its last new
   * entry was stored; null if none was new. Called again at the next search if it resolves to false, rejects, or takes over adoptionMs.
   */
  readonly onAdopted?: (owner: string, storedAgoMs: number | null) => Promise<boolean>;
}

/**
 * Recovers the journals of other processes that died: their settled and open attempts become entries, as at the start of a process. One
 * search runs at a time, in bounded batches. An error is logged once and the recovery retried.
 */
export function startAdoption(options: AdoptionOptions) {
  const { clock, observer } = options;
  let stopped = false;
  let unbook: (() => void) | null = null;
  let searching: Promise<void> | null = null;
  const stopping = new AbortController();
  /** The last logged error, by place. */
  const problems = new Map<string, string>();
  const notices = new Map<string, Promise<boolean>>();
  /** Monotonic milliseconds of the last new entry of each owner, until `onAdopted` has taken it. */
  const storedMs = new Map<string, number>();
  const notifyAdopted = async (owner: string, stored: number): Promise<boolean> => {
    const { onAdopted } = options.hooks;
    if (onAdopted === undefined) return true;
    const nowMs = clock.monotonic();
    if (stored > 0) storedMs.set(owner, nowMs);
    let answer = notices.get(owner);
    if (answer === undefined) {
      const atMs = storedMs.get(owner);
      answer = onAdopted(owner, atMs === undefined ? null : nowMs - atMs).finally(() => notices.delete(owner));
      notices.set(owner, answer);
    }
    const isDone = await within(clock, adoptionMs, answer, () => false);
    if (isDone) storedMs.delete(owner);
    return isDone;
  };
  const failed = (place: string, thrown: unknown): void => {
    const error = messageOf(thrown);
    if (stopped || problems.get(place) === error) return;
    problems.set(place, error);
    observer.log("warn", "failed to recover the journal of another process; retrying", { place, error });
  };

  const adoptAll = async (): Promise<void> => {
    try {
      for await (const journal of options.abandoned()) {
        if (stopped) return;
        try {
          await adopt(journal, options, notifyAdopted, stopping.signal);
          problems.delete(journal.place);
        } catch (thrown) {
          failed(journal.place, thrown);
        }
      }
      problems.delete("");
    } catch (thrown) {
      failed("", thrown);
    }
  };
  const search = (): Promise<void> => {
    unbook?.();
    searching ??= adoptAll().finally(() => {
      searching = null;
      if (!stopped) unbook = clock.after(adoptionMs, () => void search());
    });
    return searching;
  };
  unbook = clock.after(adoptionMs, () => void search());
  return {
    /** Searches now. Resolves when that search is done. */
    hurry: async (): Promise<void> => {
      if (!stopped) await search();
    },
    /** Stops searching. Waits at most adoptionMs for a running search. */
    close: async (): Promise<void> => {
      stopped = true;
      stopping.abort(new Error("The process ends."));
      unbook?.();
      if (searching !== null) await within(clock, adoptionMs, searching, () => undefined);
    },
  };
}

async function adopt(
  journal: AbandonedJournal,
  { store, observer, hooks }: AdoptionOptions,
  notifyAdopted: (owner: string, stored: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const { owner, place, leftovers } = journal;
  const { onStored } = hooks;
  const recovery = await recover({ leftovers, store, batchMax: adoptionBatchMax, signal, onStored });
  const { stored, interrupted, damage } = recovery;
  if (stored > 0 || damage.length > 0) {
    observer.log("info", "recovered the journal of a dead process", { owner, place, stored, interrupted });
  }
  for (const found of damage) observer.log("warn", "the journal of another process is damaged", { damage: found });
  // The owner's name is removed last, so that another process can continue from here.
  if (owner === null || (await notifyAdopted(owner, stored))) await journal.clear();
}
