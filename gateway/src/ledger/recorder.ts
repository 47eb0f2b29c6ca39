import { BoundedMap, type FailureCode, type Intent, joinEntry, type LedgerEntry, noUsage } from "#core/index.ts";
import type { Clock, Ids, Journal } from "#ports/index.ts";
import { Attempt, type AttemptDependencies, type AttemptEnd, type AttemptFields, type Pricing } from "./attempt.ts";
import { wholeMicros } from "./whole-usage.ts";

interface RecorderOptions extends AttemptDependencies {
  readonly journal: Pick<Journal, "intent" | "checkpoint" | "settle" | "refuse">;
  readonly ids: Ids;
}

/** What is known of a call that was refused before a deployment was chosen. */
type RefusalFields = Omit<
  AttemptFields,
  "provider" | "deployment" | "upstreamModel" | "upstreamDialect" | "retryIndex" | "reservedNanoUsd" | "priceVersion"
>;

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder(options: RecorderOptions) {
  const { journal, clock, ids, observer } = options;
  const refusals = new Refusals(journal, clock);
  const intentOf = (fields: AttemptFields, { price }: Pricing, startedAfterMs: number): Intent => {
    // The version that is paid by, whatever the caller thought it would be.
    const priceVersion = price?.id ?? null;
    return { ...fields, priceVersion, startedAfterMs, attemptId: ids.next("att_"), at: clock.now() };
  };
  return {
    /**
     * Writes the attempt ahead; its clock starts before that. `arrivedMs`: monotonic time at which its call arrived, when that
     * was earlier. Throws ledger_unavailable: then nothing may be sent.
     */
    begin(fields: AttemptFields, pricing: Pricing, arrivedMs?: number): Attempt {
      const begunMs = clock.monotonic();
      const startedAfterMs = arrivedMs === undefined ? 0 : wholeMicros(Math.max(0, begunMs - arrivedMs));
      const intent = intentOf(fields, pricing, startedAfterMs);
      journal.intent(intent);
      return new Attempt(options, intent, pricing, begunMs);
    },
    /**
     * Records what was used beside an attempt, as its answer told: begun and ended at once, so it is kept also where no attempt could
     * begin any more. Written with what comes next, so to be called before that attempt is settled.
     */
    beside(
      fields: AttemptFields,
      pricing: Pricing,
      used: Pick<AttemptEnd, "outcome" | "usage" | "served">,
    ): LedgerEntry {
      // No call of its own: sums count neither a success nor a length of it.
      const noCall = (entry: LedgerEntry): LedgerEntry => ({ ...entry, calls: 0 });
      const intent = intentOf(fields, pricing, 0);
      const dependencies: AttemptDependencies = {
        clock,
        journal: {
          checkpoint: () => undefined,
          settle: (settlement) => journal.refuse(noCall(joinEntry(intent, settlement))),
        },
        observer: {
          attemptEnd: (entry) => observer.attemptEnd(noCall(entry)),
          log: (level, message, about) => observer.log(level, message, about),
        },
      };
      const nowMs = clock.monotonic();
      const attempt = new Attempt(dependencies, intent, pricing, nowMs);
      const end: AttemptEnd = { ...used, ...noMeasures, httpStatus: 200, errorCode: null, usageSource: "upstream" };
      return noCall(attempt.settle(end, nowMs));
    },
    /** Records a call that was refused, together with those like it in the same second. `totalMs`: how long it took to say so. */
    refuse(fields: RefusalFields, code: FailureCode, httpStatus: number, totalMs: number): LedgerEntry {
      const now = clock.now();
      const entry: LedgerEntry = {
        ...fields,
        attemptId: ids.next("att_"),
        at: now,
        startedAfterMs: 0,
        provider: "",
        deployment: "",
        upstreamModel: "",
        upstreamDialect: fields.callerDialect,
        retryIndex: 0,
        priceVersion: null,
        reservedNanoUsd: 0,
        endedAt: now,
        outcome: "rejected",
        httpStatus,
        ...noMeasures,
        errorCode: code,
        usage: noUsage,
        usageSource: "none",
        costNanoUsd: 0,
        totalMs,
      };
      refusals.take(entry);
      observer.attemptEnd(entry);
      return entry;
    },
    /** Writes what was counted of refusals so far; before the journal is closed. */
    flush: (): void => refusals.flush(),
  };
}

/** Of what no upstream was asked for. */
const noMeasures = {
  upstreamStatus: null,
  rawUsage: null,
  firstByteMs: null,
  firstTokenMs: null,
  upstreamMs: null,
  overheadMs: null,
  upstreamId: null,
} as const;

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
class Refusals {
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
