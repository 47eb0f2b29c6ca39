import {
  axesOf,
  type CountedClass,
  type CountedUse,
  emptyUsage,
  type Failure,
  type Model,
  noUsage,
  type Outcome,
  onlyCounts,
  type Served,
  tokensOf,
  type Usage,
  type UsageSource,
} from "#core/index.ts";
import {
  type OtherUsage,
  type ReplyFacts,
  type RequestFacts,
  type StreamTap,
  type UsageReading,
  withServed,
} from "#protocols/index.ts";
import type { AttemptParts } from "./call-tally.ts";
import { StreamMoney } from "./hold.ts";

/** The usage of an attempt, with everything that its price depends on. */
export interface MeasuredUsage {
  readonly usage: Usage;
  readonly source: UsageSource;
  /** Used by other models within the same answer. */
  readonly others?: readonly OtherUsage[] | undefined;
  readonly served?: Served | undefined;
}

type InputEstimate = Pick<AttemptMoney, "inputTokens">;

const nothingUsed: MeasuredUsage = { usage: noUsage, source: "none" };

/** The usage of one attempt so far, at its end, and expected; and the money that is held while it streams. */
export class AttemptMoney {
  readonly #parts: AttemptParts;
  /** null: the caller has no budget, the model no price, or the answer comes as a whole. */
  readonly #held: StreamMoney | null;
  /** The upstream searches the web for the call, and may not report how often. */
  searches: boolean;
  /** A whole reply: its usage is charged even if it cannot be delivered. */
  reply: ReplyFacts | null = null;
  stream: StreamTap | null = null;
  headersServed: Served | undefined;

  constructor(parts: AttemptParts) {
    const { call, selection, match, tally } = parts;
    const { price } = selection.model;
    this.#parts = parts;
    this.searches = call.facts.requestsSearch === true && !match.translated;
    const isHeld = call.facts.stream && Number.isFinite(tally.permit.held) && price !== null;
    const hold = isHeld ? tally.estimate.hold(selection.model) : null;
    this.#held = hold === null || price === null ? null : new StreamMoney(tally.permit, hold, price);
  }

  /** Estimates the input, for answers that do not report it. */
  inputTokens(): number {
    const { dependencies, call, selection } = this.#parts;
    return dependencies.forecast.input(call, selection.model.name);
  }

  /** Returns the failure that the stream has to end with, when its money is used up. */
  checkHeld(tap: StreamTap): Failure | null {
    if (this.#held === null || tap.ended) return null;
    const usage = tap.usage?.usage ?? null;
    return this.#held.check(Math.max(tap.outputEstimate, usage?.output ?? 0), usage);
  }

  /** `images`: pictures in the reply that its usage may not count. */
  usedByReply(reply: ReplyFacts, images: number): MeasuredUsage {
    return this.#withRequested(withImages(measuredReply(reply, this), images));
  }

  usedByStream(tap: StreamTap): MeasuredUsage {
    return this.#withRequested(measuredStream(tap, this));
  }

  /** If an answer has begun, its input is charged even without output. */
  usedSoFar(): MeasuredUsage {
    const seen = measuredStream(this.stream, this);
    return this.#withFee(this.#withRequested(seen.source === "none" ? estimatedUsage(this.inputTokens(), 0) : seen));
  }

  /** The expected use of a background response, until its task knows better. */
  expected(): MeasuredUsage {
    const { dependencies, call, selection } = this.#parts;
    const input = this.inputTokens();
    const tokens = dependencies.forecast.tokens(call, selection.model);
    return this.charged(this.#withRequested(estimatedUsage(input, Math.max(0, tokens - input))), "pending");
  }

  /**
   * The charge for a failed attempt. If something was generated: the reported usage, else the input and the output that came. If nothing
   * was generated: free if the upstream refused the request or reported an error, or if the request never reached it; else an estimate,
   * because the upstream may have done the work.
   */
  usedByFailed({ arrival }: Failure): MeasuredUsage {
    const { reply, stream } = this;
    const seen = reply !== null ? measuredReply(reply, this) : measuredStream(stream, this);
    const isFree = arrival !== "unknown" || (stream !== null && stream.failure !== null);
    if (seen.source !== "none" && (reply !== null || hasGenerated(stream) || !isFree)) return this.#withRequested(seen);
    if (isFree && !hasGenerated(stream)) return nothingUsed;
    return this.#withRequested(withImages(estimatedUsage(this.inputTokens(), 0), this.#parts.call.facts.images));
  }

  /** The use with what only the headers, the account and the price know of it. */
  charged(used: MeasuredUsage, outcome: Outcome): MeasuredUsage {
    if (outcome !== "succeeded" && used.source === "none") return used;
    // The headers of a stream are written before its cost is final.
    let charged = withServedBy(used, this.stream === null ? this.headersServed : axesOf(this.headersServed));
    // A search comes before the answer: one that was requested and is not reported counts also when the answer breaks off.
    if (this.searches && charged.source !== "none" && charged.usage.webSearches === 0)
      charged = { ...charged, usage: { ...charged.usage, webSearches: 1 } };
    return this.#withFee(charged);
  }

  /** Adds usage that the request implies and the upstream does not report. If it reports some, only usage with a price is added. */
  #withRequested(used: MeasuredUsage): MeasuredUsage {
    const { call, selection } = this.#parts;
    const { estimatedUse } = call.facts;
    if (estimatedUse === undefined) return used;
    const isSilent = used.source !== "upstream";
    const missing = (Object.keys(estimatedUse.likely) as CountedClass[]).filter(
      (name) => used.usage[name] === 0 && (isSilent || selection.model.price?.table[name] !== undefined),
    );
    if (missing.length === 0 && used.source !== "none") return used;
    const begun = used.source === "none" ? estimatedUsage(this.inputTokens(), 0) : used;
    const more = Object.fromEntries(missing.map((name) => [name, estimatedUse.likely[name] ?? 0]));
    return { ...begun, usage: { ...begun.usage, ...more }, source: "estimated" };
  }

  /** Adds the request itself, where the model has a price for that. Counting tokens is free. */
  #withFee(used: MeasuredUsage): MeasuredUsage {
    const { call, selection } = this.#parts;
    const isPriced = selection.model.price?.table.chargedRequests !== undefined || call.priceFloor != null;
    if (!isPriced || onlyCounts(call.protocol.endpoint)) return used;
    const source = used.source === "none" ? "estimated" : used.source;
    return { ...used, usage: { ...used.usage, chargedRequests: 1 }, source };
  }
}

/** The usage, without input, that recovery assumes for an attempt without a settlement. null: none. */
export function recoveredUse(
  { estimatedUse, images }: Pick<RequestFacts, "estimatedUse" | "images">,
  { price }: Pick<Model, "price">,
): CountedUse | null {
  const hasFee = price?.table.chargedRequests !== undefined;
  if (estimatedUse === undefined && images === 0 && !hasFee) return null;
  return { ...estimatedUse?.likely, ...(images === 0 ? {} : { images }), ...(hasFee ? { chargedRequests: 1 } : {}) };
}

function estimatedUsage(inputUncached: number, output: number): MeasuredUsage {
  const usage = emptyUsage();
  usage.inputUncached = inputUncached;
  usage.output = output;
  return { usage, source: "estimated" };
}

/** If the upstream does not report image output, all of its output is images. */
function withImages(used: MeasuredUsage, images: number): MeasuredUsage {
  if (images === 0) return used;
  const { usage, source } = used;
  const output = usage.imageOutput === 0 ? { output: 0, reasoning: 0, imageOutput: usage.output } : {};
  return { ...used, usage: { ...usage, ...output, images }, source: source === "none" ? "estimated" : source };
}

/** The upstream's numbers, else an estimate from the size of the reply. */
export function measuredReply(reply: ReplyFacts, input: InputEstimate): MeasuredUsage {
  return measured(reply.usage, reply.outputEstimate, reply.served, input);
}

/** The same for a stream. Numbers from its start are completed by the output since. */
function measuredStream(tap: StreamTap | null, input: InputEstimate): MeasuredUsage {
  if (tap === null) return nothingUsed;
  const reading = tap.usage;
  if (reading === null || tap.usageFinal) return measured(reading, tap.outputEstimate, tap.served, input);
  const { usage, others } = reading;
  const output = Math.max(usage.output, tap.outputEstimate);
  // Some report zeros first and the truth at the end: an answer that was streaming had some input.
  const isReported = tokensOf(usage) > usage.output || usage.images > 0;
  const inputUncached = isReported ? usage.inputUncached : input.inputTokens();
  return { usage: { ...usage, inputUncached, output }, source: "estimated", others, served: tap.served };
}

/** If a usage leaves out one side, that side is not free: it is estimated, and the whole usage is marked as an estimate. */
function measured(
  reading: UsageReading | null,
  outputEstimate: number,
  served: Served | undefined,
  input: InputEstimate,
): MeasuredUsage {
  if (reading === null) {
    return withServedBy(
      outputEstimate === 0 ? nothingUsed : estimatedUsage(input.inputTokens(), outputEstimate),
      served,
    );
  }
  const { usage, missingSide, others } = reading;
  const lacksInput = missingSide === "input" || missingSide === "both";
  const lacksOutput = missingSide !== undefined && missingSide !== "input";
  const output = lacksOutput ? Math.max(usage.output, outputEstimate) : usage.output;
  const cached = usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  const inputUncached = lacksInput ? Math.max(usage.inputUncached, input.inputTokens() - cached) : usage.inputUncached;
  if (output === usage.output && inputUncached === usage.inputUncached)
    return { usage, source: "upstream", others, served };
  return { usage: { ...usage, inputUncached, output }, source: "estimated", others, served };
}

/** Content came, or the usage counts more than the prompt. */
function hasGenerated(tap: StreamTap | null): boolean {
  if (tap === null) return false;
  const counted = (tap.usage?.usage.reasoning ?? 0) + (tap.served?.vendorCostNanoUsd ?? 0);
  return tap.contentSeen || tap.usageFinal || counted > 0;
}

/** A cost that the vendor reports counts, also where it reports nothing else. */
function withServedBy(used: MeasuredUsage, served: Served | undefined): MeasuredUsage {
  if (served === undefined) return used;
  const merged = withServed(used.served, served);
  const isCharged = used.source === "none" && merged?.vendorCostNanoUsd !== undefined;
  return { usage: used.usage, source: isCharged ? "upstream" : used.source, others: used.others, served: merged };
}
