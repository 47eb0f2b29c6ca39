import { join } from "node:path";
import { type GuardrailCheckEntry, type LedgerEntry, messageOf } from "#core/index.ts";
import type { LedgerStore, Observer } from "#ports/index.ts";
import { hasCode, writeLine } from "./files.ts";

export function setAsidePath(directory: string): string {
  return join(directory, "set-aside.jsonl");
}

/** Stores an entry or a check that the database permanently refuses as a line of JSON, so that it does not block others. */
export function setAside(directory: string, entry: LedgerEntry | GuardrailCheckEntry, reason: string): void {
  writeLine(setAsidePath(directory), JSON.stringify({ reason, entry }), "a");
}

type RecoveryStore = Pick<LedgerStore, "insert" | "insertChecks" | "price">;

/**
 * Wraps a store so that entries and checks that the database permanently refuses are set aside in this directory, as in the drain. Other
 * errors reject.
 */
export function settingAside(store: RecoveryStore, directory: string, observer: Pick<Observer, "log">): RecoveryStore {
  const storing = <Item extends LedgerEntry | GuardrailCheckEntry>(
    insert: (items: readonly Item[]) => Promise<number>,
    idOf: (item: Item) => Readonly<Record<string, string>>,
  ) => {
    const storeAll = async (items: readonly Item[]): Promise<number> => {
      try {
        return await insert(items);
      } catch (thrown) {
        const [only] = items;
        if (only === undefined || !isRowFault(thrown)) throw thrown;
        if (items.length > 1) {
          const middle = items.length >> 1;
          return (await storeAll(items.slice(0, middle))) + (await storeAll(items.slice(middle)));
        }
        const error = messageOf(thrown);
        setAside(directory, only, error);
        observer.log("error", "the database refuses an entry of an earlier run; setting it aside", {
          ...idOf(only),
          error,
        });
        return 0;
      }
    };
    return storeAll;
  };
  const storeChecks = storing<GuardrailCheckEntry>(
    (checks) => store.insertChecks(checks).then(() => 0),
    ({ checkId }) => ({ checkId }),
  );
  return {
    insert: storing<LedgerEntry>(
      (entries) => store.insert(entries),
      ({ attemptId }) => ({ attemptId }),
    ),
    insertChecks: async (checks) => void (await storeChecks(checks)),
    price: (id) => store.price(id),
  };
}

/** The row itself is invalid (constraint, type, too long for an index), so that retrying is pointless. */
export function isRowFault(error: unknown): boolean {
  return hasCode(error, /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG)|^2[23]\w{3}$|^54000$/);
}
