import { type Checkpoint, type Intent, joinEntry, type LedgerEntry } from "#core/index.ts";
import type { JournalRecord } from "#ports/index.ts";

export interface OpenAttempt {
  readonly intent: Intent;
  readonly checkpoint: Checkpoint | null;
}

/** Follows a journal's records in order and holds only the attempts that are open. */
export class OpenAttempts {
  readonly #open = new Map<string, OpenAttempt>();
  /** Settlements that met no open attempt. */
  strays = 0;

  /** The entry that this record completes, if it does. */
  take(record: JournalRecord): LedgerEntry | null {
    switch (record.type) {
      case "intent": {
        // The same intent again, from another place, does not take away what is known of its attempt.
        const checkpoint = this.#open.get(record.value.attemptId)?.checkpoint ?? null;
        this.#open.set(record.value.attemptId, { intent: record.value, checkpoint });
        return null;
      }
      case "checkpoint": {
        const attempt = this.#open.get(record.value.attemptId);
        if (attempt !== undefined) this.#open.set(record.value.attemptId, { ...attempt, checkpoint: record.value });
        return null;
      }
      case "settle": {
        const attempt = this.#open.get(record.value.attemptId);
        if (attempt === undefined) {
          this.strays += 1;
          return null;
        }
        this.#open.delete(record.value.attemptId);
        return joinEntry(attempt.intent, record.value);
      }
      case "refuse":
        return record.value;
    }
  }

  get size(): number {
    return this.#open.size;
  }

  values(): IterableIterator<OpenAttempt> {
    return this.#open.values();
  }
}
