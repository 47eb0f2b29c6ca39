import { BoundedMap, blankEntry, type FailureCode, type LedgerEntry, type OpenEntry, openEntry } from "#core/index.ts";
import type { Clock, FoldedRequest, Ids, Journal } from "#ports/index.ts";
import { Attempt, type AttemptDependencies, type AttemptEnd, type AttemptFields, type Pricing } from "./attempt.ts";
import { wholeMicros } from "./whole-usage.ts";

interface RecorderOptions extends AttemptDependencies {
  readonly journal: Pick<Journal, "intent" | "checkpoint" | "settle" | "flush" | "refuse">;
  readonly ids: Ids;
  /** Receives each refused call that shares the entry of another request. */
  readonly onFolded: (folded: FoldedRequest) => void;
}

/** A call that was refused before a deployment was chosen. */
type RefusalFields = Omit<
  AttemptFields,
  "provider" | "deployment" | "upstreamModel" | "upstreamDialect" | "retryIndex" | "reservedNanoUsd" | "priceVersion"
>;

export type Recorder = ReturnType<typeof createRecorder>;

export function createRecorder(options: RecorderOptions) {
  const { journal, clock, ids, observer } = options;
  const refusals = new Refusals(options);
  const complete = (entry: OpenEntry, { price }: Pricing, startedAfterMs: number): void => {
    entry.attemptId = ids.next("att_");
    entry.at = clock.now();
    entry.startedAfterMs = startedAfterMs;
    entry.priceVersion = price?.id ?? null;
  };
  return {
    /**
     * Writes the intent of an attempt (see Journal) with its id, its time and the charged version of the price, which are set here. The
     * end of the attempt completes the same object.
     * `arrivedMs`: monotonic time at which its call arrived. Throws ledger_unavailable; then nothing may be sent.
     */
    begin(entry: OpenEntry, pricing: Pricing, arrivedMs?: number): Attempt {
      const begunMs = clock.monotonic();
      const startedAfterMs = arrivedMs === undefined ? 0 : wholeMicros(Math.max(0, begunMs - arrivedMs));
      complete(entry, pricing, startedAfterMs);
      journal.intent(entry);
      return new Attempt(options, entry, pricing, begunMs);
    },
    /**
     * Records the usage of another model within an answer, as one entry. It is written together with the next record, so call it
     * before the attempt is settled.
     */
    beside(
      fields: AttemptFields,
      pricing: Pricing,
      used: Pick<AttemptEnd, "outcome" | "usage" | "served">,
    ): LedgerEntry {
      // It is not a call: sums count neither its success nor its duration.
      const noCall = (entry: LedgerEntry): LedgerEntry => ({ ...entry, calls: 0 });
      const entry: OpenEntry = { ...openEntry(), ...fields };
      complete(entry, pricing, 0);
      const dependencies: AttemptDependencies = {
        clock,
        journal: {
          checkpoint: () => undefined,
          flush: () => true,
          settle: () => journal.refuse(noCall(entry)),
        },
        observer: {
          attemptEnd: (entry) => observer.attemptEnd(noCall(entry)),
          log: (level, message, about) => observer.log(level, message, about),
        },
      };
      const nowMs = clock.monotonic();
      const attempt = new Attempt(dependencies, entry, pricing, nowMs);
      const end: AttemptEnd = { ...blankEntry, ...used, httpStatus: 200, usageSource: "upstream" };
      return noCall(attempt.settle(end, nowMs));
    },
    /** Records a refused call; equal refusals of the same second share an entry. `totalMs`: time until the refusal. */
    refuse(fields: RefusalFields, code: FailureCode, httpStatus: number, totalMs: number): LedgerEntry {
      const now = clock.now();
      const entry: LedgerEntry = {
        ...fields,
        ...blankEntry,
        stream: fields.stream,
        inputEstimate: fields.inputEstimate,
        attemptId: ids.next("att_"),
        at: now,
        provider: "",
        deployment: "",
        upstreamModel: "",
        upstreamDialect: fields.callerDialect,
        endedAt: now,
        outcome: "rejected",
        httpStatus,
        errorCode: code,
        totalMs,
      };
      refusals.take(entry);
      observer.attemptEnd(entry);
      return entry;
    },
    /** Writes the refusals that were counted so far. Call it before the journal is closed. */
    flush: (): void => refusals.flush(),
  };
}

/** The first refusalsAloneMax equal refusals within refusalTogetherMs get an entry each. */
const refusalsAloneMax = 5;
const refusalTogetherMs = 1_000;
/** Kinds of refusals that are counted at a time; others get an entry each. */
const refusalKindsMax = 10_000;

/**
 * Combines equal refusals (key, group, model, endpoint, code). The first few in a second get an entry each; the others are counted and
 * written as one entry at its end, so a caller that retries at its limit causes only a few rows per second. The count of a running
 * second is lost if the process is killed.
 *
 * Agents retry a model that their person may not call, so these refusals get one entry per second.
 *
 * `onFolded` receives the calls without a separate entry, so that each can be found by its request id.
 */
class Refusals {
  readonly #journal: Pick<Journal, "refuse">;
  readonly #clock: Clock;
  readonly #onFolded: (folded: FoldedRequest) => void;
  /** By `nameOf`. */
  #alike = new Map<string, Alike>();
  /** The id of the request that has the entry of these retries. */
  readonly #retried: BoundedMap<string, string>;
  #stop: (() => void) | null = null;

  constructor({ journal, clock, onFolded }: Pick<RecorderOptions, "journal" | "clock" | "onFolded">) {
    this.#journal = journal;
    this.#clock = clock;
    this.#onFolded = onFolded;
    this.#retried = new BoundedMap(refusalKindsMax, { life: { clock, ms: refusalTogetherMs } });
  }

  take(entry: LedgerEntry): void {
    const name = nameOf(entry);
    if (isAgentRetry(entry)) {
      // An agent repeats one prompt of its person with fewer and fewer features.
      const retried = `${name}\n${entry.requestedModel}`;
      const countedIn = this.#retried.get(retried);
      if (countedIn !== undefined) {
        this.#onFolded({ entry, countedIn });
        return;
      }
      this.#retried.set(retried, entry.requestId);
    }
    const alike = this.#alike.get(name);
    if (alike !== undefined && alike.written >= refusalsAloneMax) {
      alike.counted++;
      if (alike.first === null) alike.first = entry;
      else this.#onFolded({ entry, countedIn: alike.first.requestId });
      return;
    }
    this.#journal.refuse(entry);
    if (alike !== undefined) alike.written++;
    else if (this.#alike.size < refusalKindsMax) {
      this.#alike.set(name, { written: 1, first: null, counted: 0 });
      this.#stop ??= this.#clock.after(refusalTogetherMs, () => this.flush());
    }
  }

  /** Writes the refusals that were counted so far. */
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

/** Claude Code tries a refused model up to eight times in 0.2 s. */
function isAgentRetry({ personId, errorCode }: LedgerEntry): boolean {
  return personId !== undefined && errorCode === "model_not_found";
}

interface Alike {
  written: number;
  /** The first counted refusal; their common entry repeats its fields. */
  first: LedgerEntry | null;
  counted: number;
}

/** A key has one workspace, but may move between groups. None of these contains a line feed. */
function nameOf({ keyId, groupId, actorId = "", errorCode, httpStatus, endpoint, model }: LedgerEntry): string {
  return `${keyId}\n${groupId}\n${actorId}\n${errorCode} ${httpStatus} ${endpoint}\n${model}`;
}
