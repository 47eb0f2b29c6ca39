import { BoundedMap, type LedgerEntry } from "#core/index.ts";
import type { Clock, Journal } from "#ports/index.ts";

/** Of equal refusals within this time only the first few get entries of their own; and the kinds that are told apart. */
const refusalsAloneMax = 5;
const refusalTogetherMs = 1_000;
const refusalKindsMax = 10_000;

/**
 * Refusals on their way to the journal. The first few of a kind (key, model, endpoint, answer) in a second are written as they
 * are; the others are counted and written as one entry at its end. So whoever calls at a limit as fast as it can makes a few
 * rows a second. The count of a running second is lost when the process is killed.
 *
 * A model that a person may not call is one refusal a second, however often their agent asks: it asks by itself.
 */
export class Refusals {
  readonly #journal: Pick<Journal, "refuse">;
  readonly #clock: Clock;
  /** By what makes them alike. */
  #alike = new Map<string, Alike>();
  readonly #asked: BoundedMap<string, true>;
  #stop: (() => void) | null = null;

  constructor(journal: Pick<Journal, "refuse">, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
    this.#asked = new BoundedMap(refusalKindsMax, { life: { clock, ms: refusalTogetherMs } });
  }

  take(entry: LedgerEntry): void {
    const name = nameOf(entry);
    if (isOwnRepeat(entry)) {
      // What an agent repeats by itself, with fewer and fewer features, is one prompt of its person.
      const asked = `${name}\n${entry.requestedModel}`;
      if (this.#asked.get(asked) !== undefined) return;
      this.#asked.set(asked, true);
    }
    const alike = this.#alike.get(name);
    if (alike !== undefined && alike.written >= refusalsAloneMax) {
      alike.first ??= entry;
      alike.counted++;
      return;
    }
    this.#journal.refuse(entry);
    if (alike !== undefined) alike.written++;
    else if (this.#alike.size < refusalKindsMax) {
      this.#alike.set(name, { written: 1, first: null, counted: 0 });
      this.#stop ??= this.#clock.after(refusalTogetherMs, () => this.flush());
    }
  }

  /** Writes what was counted so far. */
  flush(): void {
    this.#stop?.();
    this.#stop = null;
    const alike = this.#alike;
    this.#alike = new Map();
    for (const { first, counted } of alike.values()) {
      if (first !== null) this.#journal.refuse({ ...first, calls: counted });
    }
  }
}

/** A refused model of a person's call: Claude Code asks up to eight times in 0.2 s. */
function isOwnRepeat({ personId, errorCode }: LedgerEntry): boolean {
  return personId !== undefined && errorCode === "model_not_found";
}

interface Alike {
  written: number;
  /** The first of those that are counted, which the entry of them all is named after. */
  first: LedgerEntry | null;
  counted: number;
}

/** A key is of one workspace, but may move between groups. Names of ours hold no line feed. */
function nameOf({ keyId, groupId, errorCode, httpStatus, endpoint, model }: LedgerEntry): string {
  return `${keyId}\n${groupId}\n${errorCode} ${httpStatus} ${endpoint}\n${model}`;
}
