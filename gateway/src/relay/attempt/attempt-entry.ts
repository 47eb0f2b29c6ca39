import { failureCause, failureCauses, shadowRefusedPrefix } from "@sluice/contract/words";
import {
  type AttemptObject,
  asFailure,
  type Failure,
  type HeaderReader,
  inputTokensOf,
  type LedgerEntry,
  noUsage,
  type OpenEntry,
  onlyCounts,
  outputTokensOf,
  type Redactor,
  type Served,
  tokensOf,
  type Usage,
  type UsageSource,
} from "#core/index.ts";
import type { Attempt, AttemptEnd } from "#ledger/index.ts";
import type { AttemptFault, AttemptSums } from "#ports/index.ts";
import { type ReplyFacts, readServedHeaders, type StreamTap } from "#protocols/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { openEntryOf } from "../call.ts";
import { AttemptMoney, type MeasuredUsage, recoveredUse } from "./attempt-money.ts";
import { AttemptObjects } from "./attempt-objects.ts";
import type { AttemptParts } from "./call-tally.ts";
import { pricesAt, recordOthers } from "./priced-usage.ts";
import { attemptRedactor, mayConcernObject, shownWords } from "./upstream-refusal.ts";

type EndedOutcome = AttemptEnd["outcome"];

/**
 * The facts of one attempt, as the ledger stores them: written ahead by the constructor, settled exactly once however the attempt ends.
 * `money` computes usage and charge, `kept` has the objects for later calls. Only from here does the settlement reach ledger, breaker,
 * tally and observer.
 */
export class AttemptEntry implements AttemptEnd {
  readonly attemptId: string;
  outcome: EndedOutcome = "failed";
  pending = false;
  httpStatus = 0;
  upstreamStatus: number | null = null;
  errorCode: AttemptEnd["errorCode"] = null;
  usage: Usage = noUsage;
  usageSource: UsageSource = "none";
  served: Served | undefined;
  rawUsage: string | null = null;
  firstByteMs: number | null = null;
  firstTokenMs: number | null = null;
  upstreamMs: number | null = null;
  overheadMs: number | null = null;
  upstreamId: string | null = null;
  objects: readonly AttemptObject[] | undefined;
  warnings: readonly string[] | null = null;
  fault: AttemptFault | null = null;
  readonly money: AttemptMoney;
  readonly kept: AttemptObjects;
  /** The upstream's message when it refused; null: none that may be shown. */
  refusedWith: string | null = null;
  readonly #parts: AttemptParts;
  readonly #entry: OpenEntry;
  readonly #record: Attempt;
  #redactor: Redactor | null = null;
  /** 0: not sent yet. */
  #sentMs = 0;
  #eventsCounted = 0;
  #isSettled = false;
  #settled: LedgerEntry | null = null;

  /** Throws ledger_unavailable when the intent cannot be written: nothing may be sent then. */
  constructor(parts: AttemptParts) {
    const { dependencies, call, selection } = parts;
    const { provider } = selection.deployment;
    const { price } = selection.model;
    this.#parts = parts;
    this.#entry = attemptEntry(parts);
    const priceOf = pricesAt(dependencies.configSnapshot(), provider.id);
    const pricing = { price, terms: priceTermsOf(provider), priceOf, floor: call.priceFloor };
    this.#record = dependencies.recorder.begin(this.#entry, pricing, call.startedMs);
    this.attemptId = this.#record.attemptId;
    this.money = new AttemptMoney(parts);
    this.kept = new AttemptObjects(parts);
  }

  sending(): void {
    this.#sentMs = this.#now();
    this.#parts.tally.tried++;
  }

  answered(status: number, headers: HeaderReader): void {
    this.upstreamStatus = status;
    this.money.headersServed = readServedHeaders(headers);
  }

  /** The answer to the caller begins: no other deployment is tried. Returns the monotonic time. */
  begin(tap: StreamTap | null): number {
    const { call, selection, tally } = this.#parts;
    const now = this.#now();
    this.firstByteMs = now - this.#record.begunMs;
    if (tap?.contentSeen === true) this.firstTokenMs = this.firstByteMs;
    // A stream that is passed on in silence has not answered yet.
    if (tap?.events !== 0) selection.answered();
    tally.awayMs += now - this.#sentMs;
    this.overheadMs = Math.max(0, now - call.startedMs - call.bodyWaitMs - tally.awayMs);
    return now;
  }

  get costNanoUsd(): number | null {
    return this.#settled?.costNanoUsd ?? null;
  }

  get redactor(): Redactor {
    this.#redactor ??= attemptRedactor(this.#parts.selection.deployment.provider, this.#parts.call.headers);
    return this.#redactor;
  }

  warnUnpriced(): void {
    for (const name of this.#settled?.unpriced ?? []) this.#parts.warnings.add(`${name}: used without a price`);
  }

  /** Returns the failure that the stream has to end with, when its money is used up. `now`: monotonic milliseconds. */
  progress(tap: StreamTap, now: number): Failure | null {
    const { kept } = this;
    if (tap.contentSeen) {
      this.#parts.selection.streamed();
      this.firstTokenMs ??= now - this.#record.begunMs;
    }
    let isDue = false;
    if (tap.id !== null && kept.answerId === null) {
      kept.answer(tap.id);
      // Before the caller gets the id, so that it can ask for the answer even after a crash.
      isDue = kept.answerId !== null;
    }
    const events = tap.events - this.#eventsCounted;
    this.#eventsCounted = tap.events;
    if ((events > 0 && this.#record.countEvents(events, now)) || isDue) this.#checkpoint();
    return this.money.checkHeld(tap);
  }

  #checkpoint(): void {
    this.pending = this.#isPending();
    const used = this.pending ? this.money.expected() : this.money.usedSoFar();
    this.#setUsage(used, used);
    this.#record.checkpoint(this);
  }

  /** `used`: without what the headers and the price add, which is no input of later calls. */
  #setUsage(charged: MeasuredUsage, used: MeasuredUsage): void {
    this.usage = charged.usage;
    this.usageSource = charged.source;
    this.served = charged.served;
    this.upstreamId = this.kept.answerId;
    this.objects = this.kept.record(used);
  }

  /** A whole reply. `images`: pictures in it that its usage may not count. */
  succeed(status: number, reply: ReplyFacts, images: number): void {
    const now = this.begin(null);
    this.kept.answer(reply.id);
    this.kept.made(reply);
    if (reply.status === "queued" || reply.status === "in_progress") {
      const outcome = this.kept.answerId === null ? "succeeded" : "pending";
      this.#settle(outcome, status, this.money.expected(), null, null, now);
      return;
    }
    this.#succeed(status, this.money.usedByReply(reply, images), reply.usage?.raw ?? null, now);
  }

  /** A stream that ended well. */
  finish(status: number, tap: StreamTap): void {
    this.kept.made(tap);
    this.#succeed(status, this.money.usedByStream(tap), tap.usage?.raw ?? null, this.#now());
  }

  #succeed(status: number, used: MeasuredUsage, rawUsage: string | null, now: number): void {
    this.#settle("succeeded", status, used, rawUsage, null, now);
    const { tally, selection } = this.#parts;
    if (used.source === "upstream") tally.estimate.learn(selection.model, used.usage);
  }

  /** Before an answer began. Returns the failure with what may be tried after it. */
  fail(thrown: Failure): Failure {
    const { tally } = this.#parts;
    const isSent = this.#sentMs !== 0;
    const safe = this.redactor.failure(thrown);
    const failure = isSent ? this.#withRetry(safe) : safe.with({ arrival: "unsent" });
    if (isSent && this.firstByteMs === null) tally.awayMs += this.#now() - this.#sentMs;
    if (isSent && neverDialled.has(failure.accountFault)) tally.tried--;
    const outcome = failure.code === "client_closed" ? "cancelled" : "failed";
    this.#settleFailed(outcome, failure.upstream?.status ?? failure.status, failure);
    return failure;
  }

  /** A request that may have been executed is not sent again, unless settings allow it. Counting tokens is free. */
  #withRetry(failure: Failure): Failure {
    if (failure.arrival !== "unknown") return failure;
    if (onlyCounts(this.#parts.call.protocol.endpoint)) return failure.with({ arrival: "refused" });
    const isResent = this.#parts.dependencies.configSnapshot().settings.retry_sent;
    return isResent || failure.retry === "never" ? failure : failure.with({ retry: "never" });
  }

  /** After an answer began. `failure` is shown as it is. */
  breakOff(outcome: EndedOutcome, failure: Failure): void {
    const { stream } = this.money;
    // Only the listener of a background response has gone.
    const isLeft = outcome === "cancelled" && this.#parts.call.facts.background === true && stream?.usageFinal === true;
    if (isLeft && stream.failure === null) this.finish(this.upstreamStatus ?? 200, stream);
    // The upstream did its work: as for a whole answer that a guardrail refuses.
    else if (guardrailCodes.has(failure.code)) this.#settleFailed("succeeded", this.upstreamStatus ?? 200, failure);
    else this.#settleFailed(outcome, failure.status, failure);
  }

  #settleFailed(outcome: EndedOutcome, status: number, failure: Failure): void {
    const { reply, stream } = this.money;
    if (this.#parts.call.facts.background === true) this.kept.answer(stream?.id ?? null);
    if (this.#isPending()) {
      this.#settle("pending", status, this.money.expected(), null, failure, this.#now());
      return;
    }
    const used = this.money.usedByFailed(failure);
    const rawUsage = used.source === "none" ? null : (reply?.usage?.raw ?? stream?.usage?.raw ?? null);
    this.#settle(outcome, status, used, rawUsage, outcome === "succeeded" ? null : failure, this.#now());
  }

  /** The upstream continues a background response without a listener: a task polls its end. */
  #isPending(): boolean {
    const isBackground = this.#parts.call.facts.background === true;
    return isBackground && this.kept.answerId !== null && this.money.stream?.usageFinal !== true;
  }

  #settle(
    outcome: EndedOutcome,
    status: number,
    used: MeasuredUsage,
    rawUsage: string | null,
    failure: Failure | null,
    now: number,
  ): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.outcome = outcome;
    this.httpStatus = status;
    this.rawUsage = rawUsage;
    try {
      this.#book(used, failure, now);
    } finally {
      // Also after an error: a place in flight that is not given back is lost for good.
      const isGood = outcome === "succeeded" || (outcome === "pending" && failure === null);
      const result = isGood ? "ok" : outcome === "failed" ? asFailure(failure) : "cancelled";
      this.#parts.selection.end(result, now - this.#record.begunMs, now);
    }
  }

  #book(used: MeasuredUsage, failure: Failure | null, now: number): void {
    const { outcome } = this;
    const { tally, dependencies, call, warnings } = this.#parts;
    const isPending = outcome === "pending";
    if (this.#sentMs !== 0 && failure?.arrival !== "unsent") tally.sent = true;
    const charged = this.money.charged(used, outcome);
    this.#setUsage(charged, used);
    this.upstreamMs = this.#sentMs === 0 ? null : now - this.#sentMs;
    this.errorCode = isPending ? null : (failure?.code ?? null);
    this.warnings = this.#withShadow(warnings.list());
    this.fault = failure === null || isPending ? null : this.#faultOf(failure);
    try {
      if (charged.others !== undefined) tally.tokens += recordOthers(this.#parts, this.#entry, charged, outcome);
    } finally {
      this.#settled = this.#record.settle(this, now);
    }
    addUp(call.attempts, this.#settled, this.fault);
    this.kept.remember(this.objects);
    if (isPending) {
      tally.handover = dependencies
        .background()
        .hold(call.principal, this.attemptId, this.#entry.reservedNanoUsd, this.#entry);
    } else tally.tokens += tokensOf(charged.usage);
    if (failure === null || (outcome !== "failed" && outcome !== "interrupted")) return;
    const { code, retry } = failure;
    tally.failures ??= [];
    tally.failures.push({ attemptId: this.attemptId, code, message: this.#words(failure), retry });
  }

  /** Limits and grants in shadow mode that would have refused the call become warnings of the entry. The caller does not get them. */
  #withShadow(warnings: readonly string[] | null): readonly string[] | null {
    const { dependencies, call, selection, tally } = this.#parts;
    const { shadowRefusal } = tally.permit;
    const denials = call.shadowDenials?.(selection.model.name) ?? none;
    if (denials.length === 0 && shadowRefusal === null) return warnings;
    // A call is counted once, with its first attempt.
    if (this.#entry.retryIndex === 0) for (const denial of denials) dependencies.onShadowDenial(denial);
    const refusals = shadowRefusal === null ? denials : [...denials, shadowRefusal];
    return [...(warnings ?? []), ...refusals.map(({ text }) => `${shadowRefusedPrefix}${text}`)];
  }

  /** For log and metrics. */
  #faultOf(failure: Failure): AttemptFault {
    const { code, upstream, accountFault, cools, retry } = failure;
    const { call } = this.#parts;
    const status = upstream?.status ?? this.upstreamStatus;
    const cause = failureCause({
      ...{ code, status, accountFault },
      lacksModel: cools === "now" && (status === 403 || status === 404),
      spent: cools === "now" && retry === "other",
      namesObject: call.operation !== undefined || mayConcernObject(call.facts, status ?? 0),
    });
    // When an upstream refuses a request, it may quote what was written in it.
    const mayQuote = code === "upstream_error" && failureCauses[cause].fault === "caller";
    return { cause, message: mayQuote ? `The upstream refused the request (${status}).` : this.#words(failure) };
  }

  #words(failure: Failure): string {
    return shownWords(this.redactor, failure, this.refusedWith);
  }

  #now(): number {
    return this.#parts.dependencies.clock.monotonic();
  }
}

function attemptEntry({ call, selection, match, tally }: AttemptParts): OpenEntry {
  const { deployment, model } = selection;
  const { held } = tally.permit;
  const entry = openEntryOf(call);
  entry.model = model.name;
  entry.provider = deployment.provider.id;
  entry.deployment = deployment.id;
  entry.upstreamModel = deployment.upstreamModel;
  entry.upstreamDialect = match.lane.dialect;
  entry.retryIndex = tally.attempts - 1;
  entry.reservedNanoUsd = Number.isFinite(held) ? held : 0;
  entry.counted = recoveredUse(call.facts, model) ?? undefined;
  return entry;
}

const none: readonly never[] = [];

/** Adds a settled attempt to the sums of its request. `sums` undefined: they are not wanted. */
function addUp(sums: AttemptSums | undefined, entry: LedgerEntry, fault: AttemptFault | null): void {
  if (sums === undefined) return;
  sums.count++;
  sums.inputTokens += inputTokensOf(entry.usage);
  sums.outputTokens += outputTokensOf(entry.usage);
  sums.costNanoUsd += entry.costNanoUsd;
  sums.last = entry;
  sums.fault = fault;
}

/** A guardrail refuses an answer that has begun. */
const guardrailCodes: ReadonlySet<Failure["code"]> = new Set(["guardrail_blocked", "guardrail_failed"] as const);

/** Refused before any connection was tried. */
const neverDialled: ReadonlySet<Failure["accountFault"]> = new Set([
  ...(["url", "name", "private_address", "forbidden_address"] as const),
]);
