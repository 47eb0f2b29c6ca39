import { join } from "node:path";
import { type LedgerEntry, messageOf } from "#core/index.ts";
import type { LedgerStore, Observer } from "#ports/index.ts";
import { hasCode, writeLine } from "./files.ts";

export function setAsidePath(directory: string): string {
  return join(directory, "set-aside.jsonl");
}

/** Stores an entry that the database permanently refuses as a line of JSON, so that it does not block others. */
export function setAside(directory: string, entry: LedgerEntry, reason: string): void {
  writeLine(setAsidePath(directory), JSON.stringify({ reason, entry }), "a");
}

/**
 * Wraps a store so that entries that the database permanently refuses are set aside in this directory, as in the drain. Other errors
 * reject.
 */
export function settingAside(
  store: Pick<LedgerStore, "insert" | "price">,
  directory: string,
  observer: Pick<Observer, "log">,
): Pick<LedgerStore, "insert" | "price"> {
  const insert = async (entries: readonly LedgerEntry[]): Promise<number> => {
    try {
      return await store.insert(entries);
    } catch (thrown) {
      const [only] = entries;
      if (only === undefined || !isRowFault(thrown)) throw thrown;
      if (entries.length > 1) {
        const middle = entries.length >> 1;
        return (await insert(entries.slice(0, middle))) + (await insert(entries.slice(middle)));
      }
      const error = messageOf(thrown);
      setAside(directory, only, error);
      const { attemptId } = only;
      observer.log("error", "the database refuses an entry of an earlier run; setting it aside", {
        attemptId,
        error,
      });
      return 0;
    }
  };
  return { insert, price: (id) => store.price(id) };
}

/** The row itself is invalid (constraint, type, too long for an index), so that retrying is pointless. */
export function isRowFault(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)|^2[23]\w{3}$|^54000$/);
}
