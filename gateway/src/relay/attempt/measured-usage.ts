import {
  type CountedClass,
  type CountedUse,
  type Model,
  noUsage,
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
import type { Call } from "../call.ts";

export interface Measured {
  readonly usage: Usage;
  readonly source: UsageSource;
  readonly others?: readonly OtherUsage[] | undefined;
  readonly served?: Served | undefined;
}

export const nothingYet: Measured = { usage: noUsage, source: "none" };

export function estimated(inputUncached: number, output: number): Measured {
  return { usage: { ...noUsage, inputUncached, output }, source: "estimated" };
}

/** Where the upstream does not say what its output is, it is the pictures. */
export function withImages(told: Measured, images: number): Measured {
  if (images === 0) return told;
  const { usage, source } = told;
  const output = usage.imageOutput === 0 ? { output: 0, reasoning: 0, imageOutput: usage.output } : {};
  return { usage: { ...usage, ...output, images }, source: source === "none" ? "estimated" : source };
}

/** The upstream's numbers, else an estimate from what was seen. */
export function measuredReply(reply: ReplyFacts, inputEstimate: () => number): Measured {
  return asServed(measured(reply.usage, reply.outputEstimate, inputEstimate), reply.served);
}

/** The same of a stream. Numbers from its start are completed by what was seen since. */
export function measuredStream(tap: StreamTap | null, inputEstimate: () => number): Measured {
  if (tap === null) return nothingYet;
  const reading = tap.usage;
  if (reading === null || tap.usageFinal)
    return asServed(measured(reading, tap.outputEstimate, inputEstimate), tap.served);
  const { usage, others } = reading;
  const output = Math.max(usage.output, tap.outputEstimate);
  // Some report zeros first and the truth at the end: an answer that was streaming had some input.
  const isReported = tokensOf(usage) > usage.output || usage.images > 0;
  const inputUncached = isReported ? usage.inputUncached : inputEstimate();
  return asServed({ usage: { ...usage, inputUncached, output }, source: "estimated", others }, tap.served);
}

/** Content came, or the usage counts more than the prompt. */
export function hasGenerated(tap: StreamTap | null): boolean {
  if (tap === null) return false;
  const counted = (tap.usage?.usage.reasoning ?? 0) + (tap.served?.vendorCostNanoUsd ?? 0);
  return tap.contentSeen || tap.usageFinal || counted > 0;
}

/** A cost that the vendor reports counts, also where it reports nothing else. */
export function asServed(told: Measured, beside: Served | undefined): Measured {
  if (beside === undefined) return told;
  const served = withServed(told.served, beside);
  const isCharged = told.source === "none" && served?.vendorCostNanoUsd !== undefined;
  return { usage: told.usage, source: isCharged ? "upstream" : told.source, others: told.others, served };
}

/** A side of which a usage says nothing is not free: it is guessed, and all of it is marked as an estimate. */
function measured(reading: UsageReading | null, outputEstimate: number, inputEstimate: () => number): Measured {
  if (reading === null) return outputEstimate === 0 ? nothingYet : estimated(inputEstimate(), outputEstimate);
  const { usage, untold, others } = reading;
  const output = untold === undefined || untold === "input" ? usage.output : Math.max(usage.output, outputEstimate);
  let { inputUncached } = usage;
  if (untold === "input" || untold === "both") {
    const cached = usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
    inputUncached = Math.max(inputUncached, inputEstimate() - cached);
  }
  if (output === usage.output && inputUncached === usage.inputUncached) return { usage, source: "upstream", others };
  return { usage: { ...usage, inputUncached, output }, source: "estimated", others };
}

/** Adds what the request says of its use and the upstream does not. Of an answer with usage only what has a price. */
export function withCounted(
  told: Measured,
  { counted }: Pick<RequestFacts, "counted">,
  model: Pick<Model, "price">,
  input: () => number,
): Measured {
  if (counted === undefined) return told;
  const silent = told.source !== "upstream";
  const missing = (Object.keys(counted.likely) as CountedClass[]).filter(
    (name) => told.usage[name] === 0 && (silent || model.price?.table[name] !== undefined),
  );
  if (missing.length === 0 && told.source !== "none") return told;
  const begun = told.source === "none" ? estimated(input(), 0) : told;
  const more = Object.fromEntries(missing.map((name) => [name, counted.likely[name] ?? 0]));
  return { ...begun, usage: { ...begun.usage, ...more }, source: "estimated" };
}

/** Adds the request itself, where the model has a price for that. Counting tokens is free. */
export function withRequest(
  told: Measured,
  { price }: Pick<Model, "price">,
  { protocol: { endpoint }, priceFloor = null }: Pick<Call, "protocol" | "priceFloor">,
): Measured {
  const isPriced = price?.table.chargedRequests !== undefined || priceFloor !== null;
  if (!isPriced || onlyCounts(endpoint)) return told;
  const source = told.source === "none" ? "estimated" : told.source;
  return { ...told, usage: { ...told.usage, chargedRequests: 1 }, source };
}

/** What an attempt that is never settled is recovered with, beside its input. null: nothing. */
export function countedIntent(
  { counted, images }: Pick<RequestFacts, "counted" | "images">,
  { price }: Pick<Model, "price">,
): CountedUse | null {
  const perRequest = price?.table.chargedRequests !== undefined;
  if (counted === undefined && images === 0 && !perRequest) return null;
  return { ...counted?.likely, ...(images === 0 ? {} : { images }), ...(perRequest ? { chargedRequests: 1 } : {}) };
}
