import {
  asFailure,
  type Failure,
  type NanoUsd,
  noUsage,
  type Outcome,
  tokensOf,
  type Usage,
  type UsageSource,
} from "#core/index.ts";
import type { Attempt } from "#ledger/index.ts";
import type { ReplyFacts, StreamTap, UsageReading } from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import type { RelayHouse } from "./house.ts";
import type { Way } from "./way.ts";

/**
 * One attempt's fact in the making: written ahead when made, settled exactly once however the attempt ends. The
 * settlement reaches ledger, breaker, tally and observer from here and nowhere else.
 */
export class AttemptEntry {
  readonly attemptId: string;
  readonly #house: RelayHouse;
  readonly #call: Call;
  readonly #pick: Pick;
  readonly #tally: CallTally;
  readonly #record: Attempt;
  readonly #startMs: number;
  #sentMs = 0;
  #awayMs = 0;
  #firstByteMs: number | null = null;
  #firstTokenMs: number | null = null;
  #overheadMs: number | null = null;
  #settled = false;
  #eventsTold = 0;
  #tap: StreamTap | null = null;
  #keptId: string | null = null;
  readonly #inputEstimate = (): number => this.#house.forecast.input(this.#call.facts, this.#pick.model.name);
  readonly #reached = () => {
    const { usage, source } = measuredStream(this.#tap, this.#inputEstimate);
    return { usage, usageSource: source, firstByteMs: this.#firstByteMs, firstTokenMs: this.#firstTokenMs };
  };

  /** Throws ledger_unavailable when the intent cannot be written: nothing may be sent then. */
  constructor(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally) {
    this.#house = house;
    this.#call = call;
    this.#pick = pick;
    this.#tally = tally;
    this.#startMs = house.clock.monotonic();
    this.#record = house.recorder.begin(
      {
        ...callFields(call),
        model: pick.model.name,
        provider: pick.deployment.provider.id,
        deployment: pick.deployment.id,
        upstreamModel: pick.deployment.upstreamModel,
        upstreamDialect: way.lane.dialect,
        retryIndex: tally.attempts - 1,
        priceVersion: pick.model.price?.id ?? null,
        reservedNanoUsd: house.forecast.cost(call.facts, pick.model),
      },
      pick.model.price,
    );
    this.attemptId = this.#record.attemptId;
  }

  sending(): void {
    this.#sentMs = this.#house.clock.monotonic();
    this.#tally.sent();
  }

  /** The first whole event, or the whole reply, is here: from now on the caller is being answered. */
  firstByte(): void {
    const now = this.#house.clock.monotonic();
    this.#pick.answered();
    this.#firstByteMs = now - this.#startMs;
    this.#awayMs = now - this.#sentMs;
    this.#tally.awayMs += this.#awayMs;
    this.#overheadMs = Math.max(0, now - this.#call.startedMs - this.#call.bodyWaitMs - this.#tally.awayMs);
  }

  get overheadMs(): number {
    return this.#overheadMs ?? 0;
  }

  progress(tap: StreamTap): void {
    this.#tap = tap;
    if (this.#firstTokenMs === null && tap.contentSeen) {
      this.#firstTokenMs = this.#house.clock.monotonic() - this.#startMs;
    }
    if (this.#keptId === null && tap.id !== null) this.#keep(tap.id);
    const events = tap.events - this.#eventsTold;
    this.#eventsTold = tap.events;
    if (events > 0) this.#record.progress(events, this.#reached);
  }

  /** A whole reply that is an answer. */
  succeed(status: number, reply: ReplyFacts): void {
    if (reply.id !== null) this.#keep(reply.id);
    const { usage, source } = measured(reply.usage, reply.outputEstimate, this.#inputEstimate);
    this.#settle("succeeded", status, null, usage, source, reply.usage?.raw ?? null);
    if (source === "upstream") this.#house.forecast.learn(this.#pick.model.name, this.#call.facts, usage);
  }

  /** A stream that came to its good end. */
  finish(status: number, tap: StreamTap): void {
    const { usage, source } = measuredStream(tap, this.#inputEstimate);
    this.#settle("succeeded", status, null, usage, source, tap.usage?.raw ?? null);
    if (source === "upstream") this.#house.forecast.learn(this.#pick.model.name, this.#call.facts, usage);
  }

  /** Before an answer began. What the upstream charges for a failed attempt is normally nothing. */
  fail(failure: Failure): void {
    const outcome = failure.code === "client_closed" ? "cancelled" : "failed";
    if (this.#firstByteMs === null && this.#sentMs !== 0)
      this.#tally.awayMs += this.#house.clock.monotonic() - this.#sentMs;
    this.#settle(outcome, failure.upstream?.status ?? failure.status, failure, noUsage, "none", null);
  }

  /** After an answer began: what was seen is paid for. */
  breakOff(outcome: Exclude<Outcome, "rejected">, failure: Failure, tap: StreamTap): void {
    const { usage, source } = measuredStream(tap, this.#inputEstimate);
    this.#settle(outcome, failure.status, failure, usage, source, tap.usage?.raw ?? null);
  }

  /** The upstream keeps its answer under this id: later calls about it must find its account. */
  #keep(upstreamId: string): void {
    if (!this.#call.facts.keeps) return;
    this.#keptId = upstreamId;
    this.#tellKeeper(upstreamId, false);
  }

  #tellKeeper(upstreamId: string, paid: boolean): void {
    const { model, deployment } = this.#pick;
    this.#house.keepers.remember(this.#call.principal.workspace.id, upstreamId, {
      provider: deployment.provider.id,
      deployment: deployment.id,
      model: model.name,
      upstreamModel: deployment.upstreamModel,
      paid,
    });
  }

  #settle(
    outcome: Exclude<Outcome, "rejected">,
    httpStatus: number,
    failure: Failure | null,
    usage: Usage,
    usageSource: UsageSource,
    rawUsage: string | null,
  ): void {
    if (this.#settled) return;
    this.#settled = true;
    const now = this.#house.clock.monotonic();
    const entry = this.#record.settle({
      outcome,
      httpStatus,
      errorCode: failure?.code ?? null,
      usage,
      usageSource,
      rawUsage,
      firstByteMs: this.#firstByteMs,
      firstTokenMs: this.#firstTokenMs,
      upstreamMs: this.#sentMs === 0 ? null : now - this.#sentMs,
      overheadMs: this.#overheadMs,
      upstreamId: this.#keptId,
    });
    if (this.#keptId !== null && usageSource !== "none") this.#tellKeeper(this.#keptId, true);
    this.#tally.add(tokensOf(usage), entry.costNanoUsd satisfies NanoUsd);
    const ended = outcome === "succeeded" ? "ok" : outcome === "failed" ? asFailure(failure) : "cancelled";
    this.#pick.end(ended, now - this.#startMs);
  }
}

/** What every entry of a call says alike. */
export function callFields(call: Call) {
  return {
    requestId: call.requestId,
    workspaceId: call.principal.workspace.id,
    groupId: call.principal.group.id,
    keyId: call.principal.key.id,
    requestedModel: call.facts.model,
    endpoint: call.speech.endpoint,
    callerDialect: call.speech.bodies,
    stream: call.facts.stream,
    inputEstimate: call.facts.inputEstimate,
    userAgent: call.userAgent,
    tags: call.tags,
  } as const;
}

/** The upstream's own numbers, else a guess from what was seen, marked so; nothing seen is nothing used. */
function measured(
  reading: UsageReading | null,
  outputEstimate: number,
  inputEstimate: () => number,
): { usage: Usage; source: UsageSource } {
  if (reading !== null) return { usage: reading.usage, source: "upstream" };
  if (outputEstimate === 0) return { usage: noUsage, source: "none" };
  return { usage: { ...noUsage, inputUncached: inputEstimate(), output: outputEstimate }, source: "estimated" };
}

/**
 * The same of a stream. Numbers that were told at its start only are completed by what was seen since: a cut stream of
 * a dialect that tells its input first is an estimate with a true input.
 */
function measuredStream(tap: StreamTap | null, inputEstimate: () => number): { usage: Usage; source: UsageSource } {
  const reading = tap?.usage ?? null;
  if (tap === null || reading === null || tap.usageFinal)
    return measured(reading, tap?.outputEstimate ?? 0, inputEstimate);
  const output = Math.max(reading.usage.output, tap.outputEstimate);
  return { usage: { ...reading.usage, output }, source: "estimated" };
}
