import {
  bounds,
  type Checkpoint,
  copyCharge,
  type Intent,
  joinEntry,
  type KeptObject,
  type LedgerEntry,
  noUsage,
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
import { knownMs, wholeMicros, wholeUsage } from "./whole-usage.ts";

/** The shortest distance between two checkpoints of a stream. */
export const checkpointMs = 1_000;
export const checkpointEvents = 64;

/** What the caller of the recorder knows of an attempt before it is sent; the recorder adds the rest. */
export type AttemptFields = Omit<Intent, "attemptId" | "at" | "startedAfterMs">;

/** How far a stream has come: the best knowledge of its usage so far. Times count from the attempt's begin. */
export interface Reached extends Omit<Checkpoint, "attemptId" | "at" | "priceVersion" | "objects"> {
  /** What the answer says so far of how it was served. */
  readonly served?: Served | undefined;
  readonly objects?: readonly KeptObject[] | undefined;
}

export interface AttemptEnd
  extends Reached,
    Pick<Settlement, "httpStatus" | "upstreamStatus" | "errorCode" | "rawUsage" | "upstreamMs" | "overheadMs"> {
  readonly outcome: Exclude<Outcome, "rejected">;
  readonly warnings?: readonly string[] | null;
  /** For logs and metrics; the ledger has the code. */
  readonly fault?: AttemptFault | null;
}

export interface AttemptDependencies {
  readonly journal: Pick<Journal, "checkpoint" | "settle">;
  readonly clock: Clock;
  readonly observer: Pick<Observer, "attemptEnd" | "attemptPending" | "log">;
}

/** What an attempt is charged by. */
export type Pricing = Pick<Settling, "price" | "terms" | "priceOf" | "floor">;

/** One attempt that is written ahead. It must be settled, whatever happens to it. */
export class Attempt {
  readonly #dependencies: AttemptDependencies;
  readonly #intent: Intent;
  readonly #pricing: Pricing;
  /** Monotonic milliseconds: what every duration of the attempt counts from. */
  readonly begunMs: number;
  #eventsSince = 0;
  #checkpointMs: number;
  #entry: LedgerEntry | null = null;

  constructor(dependencies: AttemptDependencies, intent: Intent, pricing: Pricing, begunMs: number) {
    this.#dependencies = dependencies;
    this.#intent = intent;
    this.#pricing = pricing;
    this.begunMs = begunMs;
    this.#checkpointMs = begunMs;
  }

  get attemptId(): string {
    return this.#intent.attemptId;
  }

  /** Counts events as they pass. True when a checkpoint is due: every 64 events, or after a second. `nowMs`: monotonic. */
  countEvents(events: number, nowMs: number): boolean {
    this.#eventsSince += events;
    return this.#eventsSince >= checkpointEvents || nowMs - this.#checkpointMs >= checkpointMs;
  }

  checkpoint(reached: Reached): void {
    if (this.#entry !== null) return;
    const { clock, journal } = this.#dependencies;
    this.#eventsSince = 0;
    this.#checkpointMs = clock.monotonic();
    journal.checkpoint({
      attemptId: this.#intent.attemptId,
      at: clock.now(),
      usage: wholeUsage(reached.usage),
      usageSource: sourceOf(reached),
      priceVersion: this.#versionFor(reached.served),
      firstByteMs: knownMs(reached.firstByteMs),
      firstTokenMs: knownMs(reached.firstTokenMs),
      upstreamId: reached.upstreamId,
      ...(reached.objects === undefined ? {} : { objects: reached.objects }),
      ...(reached.pending === true ? { pending: true } : {}),
    });
  }

  /**
   * Ends it and gives its entry. A second call changes nothing, is logged, and gives the first entry. `nowMs`: monotonic, where it
   * was read just now. One that is `pending` has no entry yet: a task settles it.
   */
  settle(end: AttemptEnd, nowMs: number = this.#dependencies.clock.monotonic()): LedgerEntry {
    const { clock, journal, observer } = this.#dependencies;
    if (this.#entry !== null) {
      observer.log("error", "An attempt was settled twice; the first settlement stands.", {
        attemptId: this.#intent.attemptId,
        outcome: end.outcome,
      });
      return this.#entry;
    }
    const usage = wholeUsage(end.usage);
    const charged = this.#charged(end, usage);
    const settlement: { -readonly [Member in keyof Settlement]: Settlement[Member] } = {
      attemptId: this.#intent.attemptId,
      endedAt: clock.now(),
      outcome: end.outcome,
      httpStatus: end.httpStatus,
      upstreamStatus: end.upstreamStatus,
      errorCode: end.errorCode,
      usage,
      usageSource: sourceOf(end),
      rawUsage: rawUsageWithin(end.rawUsage),
      costNanoUsd: charged.costNanoUsd,
      priceVersion: charged.priceVersion,
      totalMs: wholeMicros(nowMs - this.begunMs),
      firstByteMs: knownMs(end.firstByteMs),
      firstTokenMs: knownMs(end.firstTokenMs),
      upstreamMs: knownMs(end.upstreamMs),
      overheadMs: knownMs(end.overheadMs),
      upstreamId: end.upstreamId,
    };
    copyCharge(charged, settlement);
    if (end.warnings != null) settlement.warnings = end.warnings;
    if (end.objects !== undefined) settlement.objects = end.objects;
    this.#entry = joinEntry(this.#intent, settlement);
    journal.settle(settlement);
    if (end.outcome === "pending") observer.attemptPending?.(this.#entry);
    else observer.attemptEnd(this.#entry, end.fault);
    return this.#entry;
  }

  /** What is pending has no cost yet. */
  #charged({ outcome, served }: AttemptEnd, usage: Usage): Settled {
    const { priceVersion, upstreamModel } = this.#intent;
    if (outcome === "pending") return { costNanoUsd: 0, priceVersion };
    const { price, terms, priceOf, floor } = this.#pricing;
    return settle({ price, usage, served, terms, upstreamModel, priceOf, floor });
  }

  #versionFor(served: Served | undefined): string | null {
    const { upstreamModel } = this.#intent;
    return servedPrice({ ...this.#pricing, upstreamModel }, served)?.version.id ?? null;
  }
}

/** A usage that has no source but is there all the same came from somewhere: it is paid, and called an estimate. */
function sourceOf(reached: Reached): UsageSource {
  if (reached.usageSource !== "none" || reached.usage === noUsage) return reached.usageSource;
  return usageClasses.some((name) => reached.usage[name] > 0) ? "estimated" : "none";
}

/** Cut JSON would be no JSON: too long is left out. A string has at least as many bytes as units, at most three times. */
export function rawUsageWithin(rawUsage: string | null): string | null {
  if (rawUsage === null || rawUsage.length * 3 <= bounds.rawUsageBytesMax) return rawUsage;
  return new TextEncoder().encode(rawUsage).length <= bounds.rawUsageBytesMax ? rawUsage : null;
}
