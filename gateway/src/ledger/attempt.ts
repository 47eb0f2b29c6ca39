import {
  type AttemptObject,
  bounds,
  type Checkpoint,
  type Intent,
  type LedgerEntry,
  noUsage,
  type OpenEntry,
  type Outcome,
  type Served,
  type Settled,
  type Settlement,
  type Settling,
  servedPrice,
  settle,
  type Usage,
  type UsageSource,
  usageClasses,
} from "#core/index.ts";
import type { AttemptFault, Clock, Journal, Observer } from "#ports/index.ts";
import { durationOrNull, wholeMicros, wholeUsage } from "./whole-usage.ts";

/** A checkpoint of a stream is due after either of these. */
export const checkpointMs = 1_000;
export const checkpointEvents = 64;

/** An attempt before it is sent. The recorder adds its id and times. */
export type AttemptFields = Omit<Intent, "attemptId" | "at" | "startedAfterMs">;

/** The progress of a stream, with its usage so far. Times count from the start of the attempt. */
export interface Reached extends Omit<Checkpoint, "attemptId" | "at" | "priceVersion" | "objects"> {
  /** Model, tier and region that the answer has named so far. */
  readonly served?: Served | undefined;
  readonly objects?: readonly AttemptObject[] | undefined;
}

export interface AttemptEnd
  extends Reached,
    Pick<Settlement, "httpStatus" | "upstreamStatus" | "errorCode" | "rawUsage" | "upstreamMs" | "overheadMs"> {
  readonly outcome: Exclude<Outcome, "rejected">;
  readonly warnings?: readonly string[] | null;
  /** For logs and metrics. The ledger stores only the code. */
  readonly fault?: AttemptFault | null;
}

export interface AttemptDependencies {
  readonly journal: Pick<Journal, "checkpoint" | "settle" | "flush">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "attemptEnd" | "attemptPending" | "log">;
}

/** How an attempt is charged. */
export type Pricing = Pick<Settling, "price" | "terms" | "priceOf" | "floor">;

/** One attempt whose intent is in the journal. It must be settled, however it ends, which makes its intent its entry. */
export class Attempt {
  readonly #dependencies: AttemptDependencies;
  readonly #entry: OpenEntry;
  readonly #pricing: Pricing;
  /** Monotonic milliseconds. Every duration of the attempt counts from here. */
  readonly begunMs: number;
  #eventsSince = 0;
  #checkpointMs: number;
  #isSettled = false;

  constructor(dependencies: AttemptDependencies, entry: OpenEntry, pricing: Pricing, begunMs: number) {
    this.#dependencies = dependencies;
    this.#entry = entry;
    this.#pricing = pricing;
    this.begunMs = begunMs;
    this.#checkpointMs = begunMs;
  }

  get attemptId(): string {
    return this.#entry.attemptId;
  }

  /** Returns whether a checkpoint is due: every checkpointEvents events, or after checkpointMs. `nowMs`: monotonic. */
  countEvents(events: number, nowMs: number): boolean {
    this.#eventsSince += events;
    return this.#eventsSince >= checkpointEvents || nowMs - this.#checkpointMs >= checkpointMs;
  }

  checkpoint(reached: Reached): void {
    if (this.#isSettled) return;
    const { clock, journal } = this.#dependencies;
    this.#eventsSince = 0;
    this.#checkpointMs = clock.monotonic();
    journal.checkpoint({
      attemptId: this.#entry.attemptId,
      at: clock.now(),
      usage: wholeUsage(reached.usage),
      usageSource: sourceOf(reached),
      priceVersion: this.#versionFor(reached.served),
      firstByteMs: durationOrNull(reached.firstByteMs),
      firstTokenMs: durationOrNull(reached.firstTokenMs),
      upstreamId: reached.upstreamId,
      ...(reached.objects === undefined ? {} : { objects: reached.objects }),
      ...(reached.pending === true ? { pending: true } : {}),
    });
  }

  /**
   * Writes the settlement and returns the entry. A second call is logged and returns the first entry. `nowMs`: monotonic. A `pending`
   * attempt is settled later by its task.
   */
  settle(end: AttemptEnd, nowMs: number = this.#dependencies.clock.monotonic()): LedgerEntry {
    const { clock, journal, observer } = this.#dependencies;
    const entry = this.#entry;
    if (this.#isSettled) {
      observer.log("error", "attempt settled twice; the second settlement was ignored", {
        attemptId: entry.attemptId,
        outcome: end.outcome,
      });
      return entry;
    }
    entry.usage = wholeUsage(end.usage);
    entry.endedAt = clock.now();
    entry.outcome = end.outcome;
    entry.httpStatus = end.httpStatus;
    entry.upstreamStatus = end.upstreamStatus;
    entry.errorCode = end.errorCode;
    entry.usageSource = sourceOf(end);
    entry.rawUsage = rawUsageWithin(end.rawUsage);
    entry.totalMs = wholeMicros(nowMs - this.begunMs);
    entry.firstByteMs = durationOrNull(end.firstByteMs);
    entry.firstTokenMs = durationOrNull(end.firstTokenMs);
    entry.upstreamMs = durationOrNull(end.upstreamMs);
    entry.overheadMs = durationOrNull(end.overheadMs);
    entry.upstreamId = end.upstreamId;
    const charged = this.#charged(end, entry.usage);
    // `Object.assign` takes two to three times as long.
    for (const member in charged) (entry as Record<string, unknown>)[member] = charged[member as keyof Settled];
    entry.counted = undefined;
    if (end.warnings != null) entry.warnings = end.warnings;
    if (end.objects !== undefined) entry.objects = end.objects;
    this.#isSettled = true;
    journal.settle(entry);
    // The result of a row may be stored in this turn.
    if (entry.batchId !== undefined) journal.flush();
    if (end.outcome === "pending") observer.attemptPending?.(entry);
    else observer.attemptEnd(entry, end.fault);
    return entry;
  }

  /** A pending attempt has no cost yet. */
  #charged({ outcome, served }: AttemptEnd, usage: Usage): Settled {
    const { priceVersion, upstreamModel } = this.#entry;
    if (outcome === "pending") return { costNanoUsd: 0, priceVersion };
    const { price, terms, priceOf, floor } = this.#pricing;
    return settle({ price, usage, served, terms, upstreamModel, priceOf, floor });
  }

  #versionFor(served: Served | undefined): string | null {
    const { upstreamModel } = this.#entry;
    return servedPrice({ ...this.#pricing, upstreamModel }, served)?.version.id ?? null;
  }
}

/** Usage without a source is charged, and marked as an estimate. */
function sourceOf(reached: Reached): UsageSource {
  if (reached.usageSource !== "none" || reached.usage === noUsage) return reached.usageSource;
  return usageClasses.some((name) => reached.usage[name] > 0) ? "estimated" : "none";
}

/** Returns null if it is too long: cut JSON would be invalid. A UTF-16 unit takes at most three bytes. */
export function rawUsageWithin(rawUsage: string | null): string | null {
  if (rawUsage === null || rawUsage.length * 3 <= bounds.rawUsageBytesMax) return rawUsage;
  return new TextEncoder().encode(rawUsage).length <= bounds.rawUsageBytesMax ? rawUsage : null;
}
