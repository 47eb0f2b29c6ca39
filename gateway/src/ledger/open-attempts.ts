import { type Checkpoint, type Intent, joinEntry, type LedgerEntry } from "#core/index.ts";
import type { JournalRecord } from "#ports/index.ts";

export interface OpenAttempt {
  readonly intent: Intent;
  readonly checkpoint: Checkpoint | null;
}

/** Joins the records of a journal, in order. Only open attempts are held in memory. */
export class OpenAttempts {
  readonly #open = new Map<string, OpenAttempt>();
  /** Settlements without an open attempt. */
  strays = 0;

  /** Returns the entry if this record completes one. */
  take(record: JournalRecord): LedgerEntry | null {
    switch (record.type) {
      case "intent": {
        // The same intent may come again from another place; its checkpoint stays.
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
      case "check":
        return null;
    }
  }

  get size(): number {
    return this.#open.size;
  }

  values(): IterableIterator<OpenAttempt> {
    return this.#open.values();
  }
}
