import { type LedgerEntry, within } from "#core/index.ts";
import type { AbandonedJournal, Clock, LedgerStore, Observer } from "#ports/index.ts";
import { recover } from "./recover.ts";

/** How often a process looks for journals of dead processes, and the entries that it takes over in one batch. */
const adoptionMs = 5_000;
const adoptionBatchMax = 100;

export interface AdoptionOptions {
  /** The journals of dead processes that are in reach now; each is held until the next is asked for. */
  readonly abandoned: () => Iterable<AbandonedJournal> | AsyncIterable<AbandonedJournal>;
  readonly store: Pick<LedgerStore, "insert" | "price">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly hooks: AdoptionHooks;
}

/** What others must know of what a dead process left. Both may be told the same again, when an adopter was killed meanwhile. */
export interface AdoptionHooks {
  /** Its entries that are in the database now: also those that were there before it died. */
  readonly onStored?: (entries: readonly LedgerEntry[]) => void;
  /**
   * All of it is in the database, so what that process held may be freed. `storedAgoMs`: milliseconds since its last new entry was
   * stored; null when none was new. False, a rejection, or no answer within adoptionMs: it is tried again at the next look.
   */
  readonly onAdopted?: (owner: string, storedAgoMs: number | null) => Promise<boolean>;
}

/**
 * Takes over the journals of siblings that died: what they had settled and what they left open becomes entries, as at the
 * start of a process. One look at a time, in a bounded batch at a time; what goes wrong is said once and tried again.
 */
export function startAdoption(options: AdoptionOptions) {
  const { clock, observer } = options;
  let stopped = false;
  let unbook: (() => void) | null = null;
  let looking: Promise<void> | null = null;
  const stopping = new AbortController();
  /** What was said last, by place. */
  const problems = new Map<string, string>();
  const telling = new Map<string, Promise<boolean>>();
  /** Monotonic milliseconds of the last new entry of each owner, until `onAdopted` has taken it. */
  const storedMs = new Map<string, number>();
  const told = async (owner: string, stored: number): Promise<boolean> => {
    const { onAdopted } = options.hooks;
    if (onAdopted === undefined) return true;
    const nowMs = clock.monotonic();
    if (stored > 0) storedMs.set(owner, nowMs);
    let answer = telling.get(owner);
    if (answer === undefined) {
      const atMs = storedMs.get(owner);
      answer = onAdopted(owner, atMs === undefined ? null : nowMs - atMs).finally(() => telling.delete(owner));
      telling.set(owner, answer);
    }
    const isTold = await within(clock, adoptionMs, answer, () => false);
    if (isTold) storedMs.delete(owner);
    return isTold;
  };
  const failed = (place: string, thrown: unknown): void => {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    if (stopped || problems.get(place) === error) return;
    problems.set(place, error);
    observer.log("warn", "What another process left cannot be taken over yet.", { place, error });
  };

  const adoptAll = async (): Promise<void> => {
    try {
      for await (const journal of options.abandoned()) {
        if (stopped) return;
        try {
          await adopt(journal, options, told, stopping.signal);
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
  const look = (): Promise<void> => {
    unbook?.();
    looking ??= adoptAll().finally(() => {
      looking = null;
      if (!stopped) unbook = clock.after(adoptionMs, () => void look());
    });
    return looking;
  };
  unbook = clock.after(adoptionMs, () => void look());
  return {
    /** Looks now. Resolves when that look is done. */
    hurry: async (): Promise<void> => {
      if (!stopped) await look();
    },
    /** Ends the looks, and waits for the one under way at most adoptionMs. */
    close: async (): Promise<void> => {
      stopped = true;
      stopping.abort(new Error("The process ends."));
      unbook?.();
      if (looking !== null) await within(clock, adoptionMs, looking, () => undefined);
    },
  };
}

async function adopt(
  journal: AbandonedJournal,
  { store, observer, hooks }: AdoptionOptions,
  told: (owner: string, stored: number) => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  const { owner, place, leftovers } = journal;
  const { onStored } = hooks;
  const recovery = await recover({ leftovers, store, batchMax: adoptionBatchMax, signal, onStored });
  const { stored, interrupted, damage } = recovery;
  if (stored > 0 || damage.length > 0) {
    observer.log("info", "Calls of another process that ended were taken over.", { owner, place, stored, interrupted });
  }
  for (const found of damage) observer.log("warn", "The journal of another process is damaged.", { damage: found });
  // Its owner's name goes last: whoever finds it goes on from here.
  if (owner === null || (await told(owner, stored))) await journal.clear();
}
