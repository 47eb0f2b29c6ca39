import {
  asFailure,
  axesOf,
  type Failure,
  type HeaderReader,
  type LedgerEntry,
  type Outcome,
  onlyCounts,
  type PriceTerms,
  type Redactor,
  type Served,
  tokensOf,
} from "#core/index.ts";
import type { Attempt, AttemptEnd, AttemptFields } from "#ledger/index.ts";
import type { AttemptFault } from "#ports/index.ts";
import { type ReplyFacts, readServedHeaders, type StreamTap } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { callFields } from "../call.ts";
import { addUp, faultOf } from "./attempt-fault.ts";
import type { AttemptParts } from "./attempt-parts.ts";
import { attemptRedactor, shownWords } from "./attempt-redactor.ts";
import { KeptObjects } from "./kept-objects.ts";
import {
  asServed,
  countedIntent,
  estimated,
  hasGenerated,
  type Measured,
  measuredReply,
  measuredStream,
  nothingYet,
  withCounted,
  withImages,
  withRequest,
} from "./measured-usage.ts";
import { bookOthers } from "./other-models.ts";
import { pricesAt } from "./sold-models.ts";
import { StreamMoney } from "./stream-money.ts";

/**
 * One attempt's fact in the making: written ahead when made, settled exactly once however the attempt ends. The
 * settlement reaches ledger, breaker, tally and observer from here and nowhere else.
 */
export class AttemptEntry {
  readonly attemptId: string;
  readonly #parts: AttemptParts;
  readonly #fields: AttemptFields;
  readonly #record: Attempt;
  readonly #terms: PriceTerms;
  /** The upstream searches the web for the call, and may not say how often. */
  searches: boolean;
  readonly #startMs: number;
  #sentMs = 0;
  #upstreamStatus: number | null = null;
  #inHeaders: Served | undefined;
  #awayMs = 0;
  #firstByteMs: number | null = null;
  #firstTokenMs: number | null = null;
  #overheadMs: number | null = null;
  #settled = false;
  #booked: LedgerEntry | null = null;
  #eventsTold = 0;
  #tap: StreamTap | null = null;
  readonly kept: KeptObjects;
  /** A whole reply that was read: what it says it used is paid for even if nothing of it can be delivered. */
  reply: ReplyFacts | null = null;
  /** The stream that began, whatever came of it. Its first events may bring its end with them. */
  stream: StreamTap | null = null;
  /** What the upstream said when it refused, for whoever asks why. */
  refusedWith: string | null = null;
  /** null: no budget stands on the caller, or the model has no price. */
  readonly #money: StreamMoney | null;
  readonly #inputEstimate = (): number =>
    this.#parts.dependencies.forecast.input(this.#parts.call, this.#parts.selection.model.name);
  readonly #reached = () => {
    const pending = this.#isPending(this.#tap);
    const used = pending ? this.#expected() : this.#usedSoFar();
    return {
      pending,
      usage: used.usage,
      usageSource: used.source,
      served: used.served,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      upstreamId: this.kept.answerId,
      ...this.kept.record(used),
    };
  };

  /** Throws ledger_unavailable when the intent cannot be written: nothing may be sent then. */
  constructor(parts: AttemptParts) {
    const { dependencies, call, selection, match, tally } = parts;
    this.#parts = parts;
    this.searches = call.facts.asksSearch === true && !match.translated;
    this.#fields = {
      ...callFields(call),
      model: selection.model.name,
      provider: selection.deployment.provider.id,
      deployment: selection.deployment.id,
      upstreamModel: selection.deployment.upstreamModel,
      upstreamDialect: match.lane.dialect,
      retryIndex: tally.attempts - 1,
      priceVersion: selection.model.price?.id ?? null,
      reservedNanoUsd: Number.isFinite(tally.permit.held) ? tally.permit.held : 0,
      ...countedIntent(call.facts, selection.model),
    };
    this.kept = new KeptObjects(parts, this.#fields);
    this.#terms = priceTermsOf(selection.deployment.provider);
    const { price } = selection.model;
    const priceOf = pricesAt(dependencies.catalog(), selection.deployment.provider.id);
    const pricing = { price, terms: this.#terms, priceOf, floor: call.priceFloor };
    this.#record = dependencies.recorder.begin(this.#fields, pricing, call.startedMs);
    this.#startMs = this.#record.begunMs;
    this.attemptId = this.#record.attemptId;
    const pays = call.facts.stream && Number.isFinite(tally.permit.held);
    const hold = pays ? tally.estimate.hold(selection.model) : null;
    this.#money = hold === null || price === null ? null : new StreamMoney(tally.permit, hold, price);
  }

  sending(): void {
    this.#sentMs = this.#parts.dependencies.clock.monotonic();
    this.#parts.tally.tried++;
  }

  /** The upstream's status line is here, whatever it says. */
  answered(status: number, headers: HeaderReader): void {
    this.#upstreamStatus = status;
    this.#inHeaders = readServedHeaders(headers);
  }

  /** From now on the caller is being answered, and no other deployment is tried. Gives the time, monotonic. */
  begin(tap: StreamTap | null): number {
    const { call, selection, tally, dependencies } = this.#parts;
    const now = dependencies.clock.monotonic();
    this.#firstByteMs = now - this.#startMs;
    if (tap?.contentSeen === true) this.#firstTokenMs = now - this.#startMs;
    // A stream that is passed on in silence has said nothing yet.
    if (tap?.events !== 0) selection.answered();
    this.#awayMs = now - this.#sentMs;
    tally.awayMs += this.#awayMs;
    this.#overheadMs = Math.max(0, now - call.startedMs - call.bodyWaitMs - tally.awayMs);
    return now;
  }

  get costNanoUsd(): number | null {
    return this.#booked?.costNanoUsd ?? null;
  }

  /** What is told of a failure goes by it. */
  get redactor(): Redactor {
    return attemptRedactor(this.#parts.selection.deployment.provider, this.#parts.call.headers);
  }

  get overheadMs(): number {
    return this.#overheadMs ?? 0;
  }

  /** What was used and has no price, to be told ahead of a whole answer. */
  warnUnpriced(): void {
    for (const name of this.#booked?.unpriced ?? [])
      this.#parts.warnings.add(`${name}: used, and has no price of its own`);
  }

  progress(tap: StreamTap): Failure | null {
    this.#tap = tap;
    if (tap.contentSeen) this.#parts.selection.streamed();
    if (this.#firstTokenMs === null && tap.contentSeen) {
      this.#firstTokenMs = this.#parts.dependencies.clock.monotonic() - this.#startMs;
    }
    if (this.kept.answerId === null && tap.id !== null) {
      this.kept.answer(tap.id);
      // Before the caller hears of it, so that they can come back for the answer even after a crash.
      if (this.kept.answerId !== null) this.#record.checkpoint(this.#reached());
    }
    const events = tap.events - this.#eventsTold;
    this.#eventsTold = tap.events;
    if (events > 0) this.#record.progress(events, this.#reached);
    if (this.#money === null || tap.ended) return null;
    const usage = tap.usage?.usage ?? null;
    return this.#money.check(Math.max(tap.outputEstimate, usage?.output ?? 0), usage);
  }

  /**
   * A whole reply that is an answer, all of it at once. `images`: pictures in it that its usage may not count; the price may be
   * for them.
   */
  succeed(status: number, reply: ReplyFacts, images: number): void {
    const now = this.begin(null);
    this.kept.answer(reply.id);
    this.kept.made(reply);
    if (reply.status === "queued" || reply.status === "in_progress") {
      const outcome = this.kept.answerId === null ? "succeeded" : "pending";
      this.#settle({ outcome, httpStatus: status, failure: null, told: this.#expected(), rawUsage: null, now });
      return;
    }
    const told = this.#counted(withImages(measuredReply(reply, this.#inputEstimate), images));
    const rawUsage = reply.usage?.raw ?? null;
    this.#settle({ outcome: "succeeded", httpStatus: status, failure: null, told, rawUsage, now });
    this.#learn(told);
  }

  /** A stream that came to its good end. */
  finish(status: number, tap: StreamTap): void {
    this.kept.made(tap);
    const told = this.#counted(measuredStream(tap, this.#inputEstimate));
    const rawUsage = tap.usage?.raw ?? null;
    this.#settle({ outcome: "succeeded", httpStatus: status, failure: null, told, rawUsage });
    this.#learn(told);
  }

  /**
   * Before an answer began. What was neither refused nor unsent may have been done: it is sent to nobody else unless the
   * operator says so. Gives the failure with what follows from that.
   */
  fail(thrown: Failure): Failure {
    const sent = this.#sentMs !== 0;
    const safe = this.redactor.failure(thrown);
    const failure = sent ? this.#judged(safe) : safe.with({ arrival: "unsent" });
    const outcome = failure.code === "client_closed" ? "cancelled" : "failed";
    if (this.#firstByteMs === null && sent)
      this.#parts.tally.awayMs += this.#parts.dependencies.clock.monotonic() - this.#sentMs;
    if (sent && neverDialled.has(failure.accountFault)) this.#parts.tally.tried--;
    const status = failure.upstream?.status ?? failure.status;
    this.#settleFailed(outcome, status, failure);
    return failure;
  }

  /** Nobody is charged for counting tokens, so that is like a refusal: it may be asked elsewhere. */
  #judged(failure: Failure): Failure {
    if (failure.arrival !== "unknown") return failure;
    if (onlyCounts(this.#parts.call.protocol.endpoint)) return failure.with({ arrival: "refused" });
    const again = this.#parts.dependencies.catalog().settings.retrySent;
    return again || failure.retry === "never" ? failure : failure.with({ retry: "never" });
  }

  #counted(told: Measured): Measured {
    return withCounted(told, this.#parts.call.facts, this.#parts.selection.model, this.#inputEstimate);
  }

  /** After an answer began. `failure` is shown as it is. */
  breakOff(outcome: Exclude<Outcome, "rejected">, failure: Failure): void {
    const { stream } = this;
    // Of a background response only the listener has gone.
    const isLeft = outcome === "cancelled" && this.#parts.call.facts.background === true && stream?.usageFinal === true;
    if (isLeft && stream.failure === null) this.finish(this.#upstreamStatus ?? 200, stream);
    else this.#settleFailed(outcome, failure.status, failure);
  }

  #settleFailed(outcome: Exclude<Outcome, "rejected">, httpStatus: number, failure: Failure): void {
    if (this.#parts.call.facts.background === true) this.kept.answer(this.stream?.id ?? null);
    const pending = this.#isPending(this.stream);
    const told = pending ? this.#expected() : this.#costOfFailed(failure);
    const raw = this.reply?.usage?.raw ?? this.stream?.usage?.raw ?? null;
    const rawUsage = pending || told.source === "none" ? null : raw;
    this.#settle({ outcome: pending ? "pending" : outcome, httpStatus, failure, told, rawUsage });
  }

  /**
   * What a failed attempt costs, wherever it failed. What was generated: as the upstream reports it, else as far as it was
   * seen, with its input. Nothing generated: nothing where the upstream refused the request or told an error, or where the
   * request never reached it; else an estimate, for it may have been done.
   */
  #costOfFailed({ arrival }: Failure): Measured {
    const tap = this.stream;
    const seen =
      this.reply !== null ? measuredReply(this.reply, this.#inputEstimate) : measuredStream(tap, this.#inputEstimate);
    const isFree = arrival !== "unknown" || (tap !== null && tap.failure !== null);
    if (seen.source !== "none" && (this.reply !== null || hasGenerated(tap) || !isFree)) return this.#counted(seen);
    if (isFree && !hasGenerated(tap)) return nothingYet;
    return this.#counted(withImages(estimated(this.#inputEstimate(), 0), this.#parts.call.facts.images));
  }

  /** Of an answer that has begun the input is paid for, whatever was seen of its output. */
  #usedSoFar(): Measured {
    const seen = measuredStream(this.#tap, this.#inputEstimate);
    const told = this.#counted(seen.source === "none" ? estimated(this.#inputEstimate(), 0) : seen);
    return withRequest(told, this.#parts.selection.model, this.#parts.call);
  }

  /** The upstream goes on with it whoever listens: a task learns how it ends. */
  #isPending(tap: StreamTap | null): boolean {
    return this.#parts.call.facts.background === true && this.kept.answerId !== null && tap?.usageFinal !== true;
  }

  /** What a background response is booked with where nobody can say any more what it used. */
  #expected(): Measured {
    const input = this.#inputEstimate();
    const tokens = this.#parts.dependencies.forecast.tokens(this.#parts.call, this.#parts.selection.model);
    return this.#charged(this.#counted(estimated(input, Math.max(0, tokens - input))), "pending");
  }

  #learn({ usage, source }: Measured): void {
    if (source === "upstream") this.#parts.tally.estimate.learn(this.#parts.selection.model, usage);
  }

  #settle(booking: Booking): void {
    if (this.#settled) return;
    this.#settled = true;
    const { outcome, failure, now = this.#parts.dependencies.clock.monotonic() } = booking;
    try {
      this.#book(booking, now);
    } finally {
      // Whatever went wrong in the books: a place in flight that is not given back is lost for good.
      const good = outcome === "succeeded" || (outcome === "pending" && failure === null);
      const ended = good ? "ok" : outcome === "failed" ? asFailure(failure) : "cancelled";
      this.#parts.selection.end(ended, now - this.#startMs, now);
    }
  }

  #book({ outcome, httpStatus, failure, told, rawUsage }: Booking, now: number): void {
    if (this.#sentMs !== 0 && failure?.arrival !== "unsent") this.#parts.tally.sent();
    const charged = this.#charged(told, outcome);
    const { usage, source } = charged;
    const end: AttemptEnd = {
      outcome,
      httpStatus,
      upstreamStatus: this.#upstreamStatus,
      errorCode: outcome === "pending" ? null : (failure?.code ?? null),
      usage,
      usageSource: source,
      served: charged.served,
      rawUsage,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      upstreamMs: this.#sentMs === 0 ? null : now - this.#sentMs,
      overheadMs: this.#overheadMs,
      upstreamId: this.kept.answerId,
      ...this.kept.record(told),
      warnings: this.#parts.warnings.list(),
      fault: failure !== null && isFailure(outcome) ? this.#faultOf(failure) : null,
    };
    try {
      if (charged.others !== undefined) {
        this.#parts.tally.add(bookOthers(this.#parts.dependencies, this.#fields, charged, this.#terms, outcome));
      }
    } finally {
      this.#booked = this.#record.settle(end, now);
    }
    addUp(this.#parts.call.attempts, this.#booked, end.fault ?? null);
    this.kept.remember(told);
    if (outcome === "pending") {
      const held = this.#fields.reservedNanoUsd;
      this.#parts.tally.passedOn(
        this.#parts.dependencies.background().hold(this.#parts.call.principal, this.attemptId, held),
      );
    } else this.#parts.tally.add(tokensOf(usage));
    if (failure !== null && isFailure(outcome)) this.#tellFailure(failure);
  }

  /** Of a stream the headers are written before anybody knows what it costs. */
  #besideBody(): Served | undefined {
    return this.stream === null ? this.#inHeaders : axesOf(this.#inHeaders);
  }

  /** What is charged by the request is so with the answer, and with whatever else is charged. */
  #charged(told: Measured, outcome: Outcome): Measured {
    if (outcome !== "succeeded" && told.source === "none") return told;
    const searched = this.#withSearch(asServed(told, this.#besideBody()));
    return withRequest(searched, this.#parts.selection.model, this.#parts.call);
  }

  /** A search that was asked for and is not told is one: it comes before the answer, so also when that breaks off. */
  #withSearch(told: Measured): Measured {
    if (!this.searches || told.source === "none" || told.usage.webSearches > 0) return told;
    return { ...told, usage: { ...told.usage, webSearches: 1 } };
  }

  #tellFailure(failure: Failure): void {
    const { code, retry } = failure;
    this.#parts.tally.failed({ attemptId: this.attemptId, code, message: this.#words(failure), retry });
  }

  #faultOf(failure: Failure): AttemptFault {
    const words = () => this.#words(failure);
    return faultOf(failure, { call: this.#parts.call, upstreamStatus: this.#upstreamStatus, words });
  }

  readonly #words = (failure: Failure): string => shownWords(this.redactor, failure, this.refusedWith);
}

interface Booking {
  readonly outcome: Exclude<Outcome, "rejected">;
  readonly httpStatus: number;
  readonly failure: Failure | null;
  readonly told: Measured;
  readonly rawUsage: string | null;
  /** Monotonic milliseconds, where they were read just now. */
  readonly now?: number;
}

function isFailure(outcome: Outcome): boolean {
  return outcome === "failed" || outcome === "interrupted";
}

/** Refused before any connection was tried. */
const neverDialled: ReadonlySet<Failure["accountFault"]> = new Set([
  ...(["url", "name", "private_address", "forbidden_address"] as const),
]);
