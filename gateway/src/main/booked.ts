import type { AdoptionHooks } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Observer } from "#ports/index.ts";

/** An observer that tells the budgets what each settled entry cost, before anybody else hears of it. */
export function entriesToldTo(admission: Pick<Admission, "settled">, observer: Observer): Observer {
  return {
    ...observer,
    attemptEnd: (entry, fault) => {
      admission.settled(entry);
      observer.attemptEnd(entry, fault);
    },
  };
}

/** What dead processes left counts for the budgets that are known, and what they held is freed. */
export function adoptedToldTo(
  admission: Pick<Admission, "storedElsewhere" | "adopted">,
  observer: Pick<Observer, "log">,
): Required<AdoptionHooks> {
  return {
    onStored: (entries) => {
      Promise.resolve(admission.storedElsewhere(entries)).catch((error: unknown) =>
        observer.log("warn", "Budgets are not told what other processes left; they are read again by themselves.", {
          error,
        }),
      );
    },
    onAdopted: async (owner, storedAgoMs) => {
      await admission.adopted(owner, storedAgoMs);
      return true;
    },
  };
}
