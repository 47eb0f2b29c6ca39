import { failureCause, failureCauses } from "@sluice/contract/words";
import {
  asFailure,
  axesOf,
  type Failure,
  type HeaderReader,
  inputTokensOf,
  type LedgerEntry,
  type Outcome,
  onlyCounts,
  outputTokensOf,
  type Redactor,
  type Served,
  tokensOf,
} from "#core/index.ts";
import type { Attempt, AttemptEnd, AttemptFields } from "#ledger/index.ts";
import type { AttemptFault, AttemptSums } from "#ports/index.ts";
import { type ReplyFacts, readServedHeaders, type StreamTap } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { callFields } from "../call.ts";
import type { AttemptParts } from "./call-tally.ts";
import { StreamMoney } from "./hold.ts";
import { KeptObjects } from "./kept-objects.ts";
import {
  asServed,
  bookOthers,
  countedIntent,
  estimated,
  hasGenerated,
  type Measured,
  measuredReply,
  measuredStream,
  nothingYet,
  pricesAt,
  withCounted,
  withImages,
  withRequest,
} from "./priced-usage.ts";
import { attemptRedactor, mayConcernObject, shownWords } from "./upstream-refusal.ts";

/**
 * One attempt's fact in the making: written ahead when made, settled exactly once however the attempt ends. The
 * settlement reaches ledger, breaker, tally and observer from here and nowhere else.
 */
export class AttemptEntry {
  readonly attemptId: string;
  readonly #parts: AttemptParts;
  readonly #fields: AttemptFields;
  readonly #record: Attempt;
  /** The upstream searches the web for the call, and may not say how often. */
  searches: boolean;
  readonly #startMs: number;
  #sentMs = 0;
  #upstreamStatus: number | null = null;
  #inHeaders: Served | undefined;
  #firstByteMs: number | null = null;
  #firstTokenMs: number | null = null;
  #overheadMs: number | null = null;
  #settled = false;
  #booked: LedgerEntry | null = null;
  #eventsTold = 0;
  readonly kept: KeptObjects;
  /** A whole reply: what it says it used is paid for even if it cannot be delivered. */
  reply: ReplyFacts | null = null;
  stream: StreamTap | null = null;
  refusedWith: string | null = null;
  /** null: the caller has no budget, or the model no price. */
  readonly #money: StreamMoney | null;
  readonly #inputEstimate = (): number =>
    this.#parts.dependencies.forecast.input(this.#parts.call, this.#parts.selection.model.name);
  readonly #reached = () => {
    const pending = this.#isPending();
    const used = pending ? this.#expected() : this.#usedSoFar();
    return {
      pending,
      usage: used.usage,
      usageSource: used.source,
      served: used.served,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      upstreamId: this.kept.answerId,
      objects: this.kept.record(used),
    };
  };

  /** Throws ledger_unavailable when the intent cannot be written: nothing may be sent then. */
  constructor(parts: AttemptParts) {
    const { dependencies, call, selection, match, tally } = parts;
    this.#parts = parts;
    this.searches = call.facts.requestsSearch === true && !match.translated;
    const counted = countedIntent(call.facts, selection.model);
    const fields: AttemptFields = {
      ...callFields(call),
      model: selection.model.name,
      provider: selection.deployment.provider.id,
      deployment: selection.deployment.id,
      upstreamModel: selection.deployment.upstreamModel,
      upstreamDialect: match.lane.dialect,
      retryIndex: tally.attempts - 1,
      priceVersion: selection.model.price?.id ?? null,
      reservedNanoUsd: Number.isFinite(tally.permit.held) ? tally.permit.held : 0,
    };
    this.#fields = counted === null ? fields : { ...fields, counted };
    this.kept = new KeptObjects(parts, this.#fields);
    const { provider } = selection.deployment;
    const { price } = selection.model;
    const priceOf = pricesAt(dependencies.configSnapshot(), provider.id);
    const pricing = { price, terms: priceTermsOf(provider), priceOf, floor: call.priceFloor };
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

  answered(status: number, headers: HeaderReader): void {
    this.#upstreamStatus = status;
    this.#inHeaders = readServedHeaders(headers);
  }

  /** The answer to the caller begins: no other deployment is tried. Returns the monotonic time. */
  begin(tap: StreamTap | null): number {
    const { call, selection, tally, dependencies } = this.#parts;
    const now = dependencies.clock.monotonic();
    this.#firstByteMs = now - this.#startMs;
    if (tap?.contentSeen === true) this.#firstTokenMs = now - this.#startMs;
    // A stream that is passed on in silence has said nothing yet.
    if (tap?.events !== 0) selection.answered();
    tally.awayMs += now - this.#sentMs;
    this.#overheadMs = Math.max(0, now - call.startedMs - call.bodyWaitMs - tally.awayMs);
    return now;
  }

  get costNanoUsd(): number | null {
    return this.#booked?.costNanoUsd ?? null;
  }

  get redactor(): Redactor {
    return attemptRedactor(this.#parts.selection.deployment.provider, this.#parts.call.headers);
  }

  get overheadMs(): number {
    return this.#overheadMs ?? 0;
  }

  warnUnpriced(): void {
    for (const name of this.#booked?.unpriced ?? [])
      this.#parts.warnings.add(`${name}: used, and has no price of its own`);
  }

  /** Returns the failure that the stream has to end with, when its money is used up. */
  progress(tap: StreamTap): Failure | null {
    if (tap.contentSeen) this.#parts.selection.streamed();
    if (this.#firstTokenMs === null && tap.contentSeen) {
      this.#firstTokenMs = this.#parts.dependencies.clock.monotonic() - this.#startMs;
    }
    if (this.kept.answerId === null && tap.id !== null) {
      this.kept.answer(tap.id);
      // Before the caller gets it, so that they can ask for the answer even after a crash.
      if (this.kept.answerId !== null) this.#record.checkpoint(this.#reached());
    }
    const events = tap.events - this.#eventsTold;
    this.#eventsTold = tap.events;
    if (events > 0) this.#record.progress(events, this.#reached);
    if (this.#money === null || tap.ended) return null;
    const usage = tap.usage?.usage ?? null;
    return this.#money.check(Math.max(tap.outputEstimate, usage?.output ?? 0), usage);
  }

  /** A whole reply. `images`: pictures in it that its usage may not count. */
  succeed(status: number, reply: ReplyFacts, images: number): void {
    const now = this.begin(null);
    this.kept.answer(reply.id);
    this.kept.made(reply);
    if (reply.status === "queued" || reply.status === "in_progress") {
      const outcome = this.kept.answerId === null ? "succeeded" : "pending";
      this.#settle({ outcome, httpStatus: status, failure: null, told: this.#expected(), rawUsage: null, now });
      return;
    }
    const seen = withImages(measuredReply(reply, this.#inputEstimate), images);
    this.#succeeded(status, seen, reply.usage?.raw ?? null, now);
  }

  /** A stream that ended well. */
  finish(status: number, tap: StreamTap): void {
    this.kept.made(tap);
    this.#succeeded(status, measuredStream(tap, this.#inputEstimate), tap.usage?.raw ?? null);
  }

  #succeeded(httpStatus: number, seen: Measured, rawUsage: string | null, now?: number): void {
    const told = this.#counted(seen);
    this.#settle({ outcome: "succeeded", httpStatus, failure: null, told, rawUsage, now });
    const { tally, selection } = this.#parts;
    if (told.source === "upstream") tally.estimate.learn(selection.model, told.usage);
  }

  /** Before an answer began. Returns the failure with what may be tried after it. */
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

  /** What may have been executed is not sent again, unless settings allow it. Counting tokens is free. */
  #judged(failure: Failure): Failure {
    if (failure.arrival !== "unknown") return failure;
    if (onlyCounts(this.#parts.call.protocol.endpoint)) return failure.with({ arrival: "refused" });
    const again = this.#parts.dependencies.configSnapshot().settings.retry_sent;
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
    const pending = this.#isPending();
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

  /** The input of an answer that has begun is paid for, whatever its output. */
  #usedSoFar(): Measured {
    const seen = measuredStream(this.stream, this.#inputEstimate);
    const told = this.#counted(seen.source === "none" ? estimated(this.#inputEstimate(), 0) : seen);
    return withRequest(told, this.#parts.selection.model, this.#parts.call);
  }

  /** The upstream goes on with it whoever listens: a task learns how it ends. */
  #isPending(): boolean {
    const isBackground = this.#parts.call.facts.background === true;
    return isBackground && this.kept.answerId !== null && this.stream?.usageFinal !== true;
  }

  /** The expected use of a background response, until its task knows better. */
  #expected(): Measured {
    const input = this.#inputEstimate();
    const tokens = this.#parts.dependencies.forecast.tokens(this.#parts.call, this.#parts.selection.model);
    return this.#charged(this.#counted(estimated(input, Math.max(0, tokens - input))), "pending");
  }

  #settle(booking: Booking): void {
    if (this.#settled) return;
    this.#settled = true;
    const { outcome, failure, now = this.#parts.dependencies.clock.monotonic() } = booking;
    try {
      this.#book(booking, now);
    } finally {
      // Also after an error: a place in flight that is not given back is lost for good.
      const good = outcome === "succeeded" || (outcome === "pending" && failure === null);
      const ended = good ? "ok" : outcome === "failed" ? asFailure(failure) : "cancelled";
      this.#parts.selection.end(ended, now - this.#startMs, now);
    }
  }

  #book({ outcome, httpStatus, failure, told, rawUsage }: Booking, now: number): void {
    const { tally, dependencies, call, warnings } = this.#parts;
    if (this.#sentMs !== 0 && failure?.arrival !== "unsent") tally.sent = true;
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
      objects: this.kept.record(told),
      warnings: warnings.list(),
      fault: failure !== null && outcome !== "pending" ? this.#faultOf(failure) : null,
    };
    try {
      if (charged.others !== undefined) {
        const terms = priceTermsOf(this.#parts.selection.deployment.provider);
        tally.tokens += bookOthers(dependencies, this.#fields, charged, terms, outcome);
      }
    } finally {
      this.#booked = this.#record.settle(end, now);
    }
    addUp(call.attempts, this.#booked, end.fault ?? null);
    this.kept.remember(told);
    if (outcome === "pending") {
      const held = this.#fields.reservedNanoUsd;
      tally.handover = dependencies.background().hold(call.principal, this.attemptId, held);
    } else tally.tokens += tokensOf(usage);
    if (failure !== null && isFailure(outcome)) {
      const { code, retry } = failure;
      tally.failures ??= [];
      tally.failures.push({ attemptId: this.attemptId, code, message: this.#words(failure), retry });
    }
  }

  #charged(told: Measured, outcome: Outcome): Measured {
    if (outcome !== "succeeded" && told.source === "none") return told;
    // The headers of a stream are written before its cost is known.
    let charged = asServed(told, this.stream === null ? this.#inHeaders : axesOf(this.#inHeaders));
    // A search comes before the answer: one that was asked for and is not reported counts also when the answer breaks off.
    if (this.searches && charged.source !== "none" && charged.usage.webSearches === 0)
      charged = { ...charged, usage: { ...charged.usage, webSearches: 1 } };
    return withRequest(charged, this.#parts.selection.model, this.#parts.call);
  }

  /** For log and metrics. */
  #faultOf(failure: Failure): AttemptFault {
    const { code, upstream, accountFault, cools, retry } = failure;
    const { call } = this.#parts;
    const status = upstream?.status ?? this.#upstreamStatus;
    const cause = failureCause({
      ...{ code, status, accountFault },
      lacksModel: cools === "now" && (status === 403 || status === 404),
      spent: cools === "now" && retry === "other",
      namesObject: call.operation !== undefined || mayConcernObject(call.facts, status ?? 0),
    });
    // Of a request that it refuses an upstream may quote what was written in it.
    const mayQuote = code === "upstream_error" && failureCauses[cause].fault === "caller";
    return { cause, message: mayQuote ? `The upstream refused the request (${status}).` : this.#words(failure) };
  }

  #words(failure: Failure): string {
    return shownWords(this.redactor, failure, this.refusedWith);
  }
}

interface Booking {
  readonly outcome: Exclude<Outcome, "rejected">;
  readonly httpStatus: number;
  readonly failure: Failure | null;
  readonly told: Measured;
  readonly rawUsage: string | null;
  /** Monotonic milliseconds, where they were read just now. */
  readonly now?: number | undefined;
}

/** Adds a settled attempt to the sums of its request. `sums` undefined: they are not wanted. */
function addUp(sums: AttemptSums | undefined, entry: LedgerEntry | null, fault: AttemptFault | null): void {
  if (sums === undefined || entry === null) return;
  sums.count++;
  sums.inputTokens += inputTokensOf(entry.usage);
  sums.outputTokens += outputTokensOf(entry.usage);
  sums.costNanoUsd += entry.costNanoUsd;
  sums.last = entry;
  sums.fault = fault;
}

function isFailure(outcome: Outcome): boolean {
  return outcome === "failed" || outcome === "interrupted";
}

/** Refused before any connection was tried. */
const neverDialled: ReadonlySet<Failure["accountFault"]> = new Set([
  ...(["url", "name", "private_address", "forbidden_address"] as const),
]);
