import { bounds, type CountedUse, costAtMost, dearestPrices, type Model, onlyCounts } from "#core/index.ts";
import type { Estimate, Money } from "#limits/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import type { Call } from "../call.ts";
import type { UsageForecast } from "./estimate.ts";

/**
 * What a call takes from the limits. Rates are about what calls will probably use; where money is held nothing is learned or
 * guessed: it is the most that any model of its plan can charge.
 */
export class CallEstimate implements Estimate {
  readonly tokens: number;
  readonly isFree: boolean;
  readonly #call: Call;

  constructor(forecast: UsageForecast, call: Call, model: Model) {
    this.tokens = forecast.tokens(call.facts, model);
    this.isFree = onlyCounts(call.protocol.endpoint);
    this.#call = call;
  }

  money(): Money {
    const { facts, models } = this.#call;
    const input = inputTokensMax(this.#call);
    let most = 0;
    let least = 0;
    const counted = countedMax(facts);
    const ends = canBeEnded(facts);
    for (const model of models) {
      if (model.price === null) continue;
      const prices = dearestPrices(model.price, input);
      const output = outputTokensMax(facts, model);
      most = Math.max(most, costAtMost(prices, { input, output, counted }));
      if (!ends) continue;
      const begun = Math.min(output, bounds.budgetOutputTokensMin);
      least = Math.max(least, costAtMost(prices, { input, output: begun, counted }));
    }
    return { most, least: ends ? least : most };
  }
}

/** A stream is ended when its money is; what comes as a whole, or is made whoever listens, has to be paid for as a whole. */
function canBeEnded(facts: RequestFacts): boolean {
  return facts.stream && facts.background !== true && facts.images === 0;
}

/** The most that a call can be charged for by something other than tokens. */
export function countedMax({ images, serverTools, counted }: RequestFacts): CountedUse {
  if (serverTools === undefined && counted === undefined) return { images, chargedRequests: 1 };
  return { ...serverTools, ...counted?.most, images, chargedRequests: 1 };
}

/** Of all choices together. */
function outputTokensMax({ outputTokensMax, choices, images }: RequestFacts, model: Model): number {
  return outputTokensMax ?? (model.outputTokensMax ?? bounds.outputTokensAssumed) * Math.max(1, choices ?? 1, images);
}

/**
 * An upper bound: text has no more tokens than bytes. Pictures and sounds in a body have fewer than that by far, so base64 is
 * counted by the eight bytes, and never as less than a large picture.
 */
export function inputTokensMax({ facts, body }: Pick<Call, "facts" | "body">): number {
  if (facts.inputTokensMax !== undefined) return facts.inputTokensMax;
  const textMax = facts.inputEstimate * bytesPerEstimatedToken;
  if (!(body instanceof Uint8Array) || textMax < mediaWorthBytes || facts.namesMedia === false) return textMax;
  const { bytes, count } = inlineMedia(body);
  const media = Math.ceil(bytes / mediaBytesPerToken) + count * mediaTokensMin;
  return Math.max(facts.inputEstimate, textMax - bytes) + media;
}

/** Estimates of the input are a token for four bytes. */
const bytesPerEstimatedToken = 4;
/** Smaller bodies hold no picture worth a search. */
const mediaWorthBytes = 16_384;
const mediaBytesPerToken = 8;
const mediaTokensMin = 4_096;
/** A `data` member shorter than that is text. */
const mediaBytesMin = 1_024;

const QUOTE = 0x22;
const dataUrl = Buffer.from(";base64,");
const dataMember = Buffer.from('"data"');

/** Base64 holds no quotes, so the next one ends it. */
function inlineMedia(body: Uint8Array): { readonly bytes: number; readonly count: number } {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let bytes = 0;
  let count = 0;
  const take = (start: number): number => {
    const end = text.indexOf(QUOTE, start);
    if (end === -1) return text.length;
    if (end - start < mediaBytesMin) return start;
    bytes += end - start;
    count++;
    return end;
  };
  for (let at = text.indexOf(dataUrl); at !== -1; at = text.indexOf(dataUrl, at)) at = take(at + dataUrl.length);
  for (let at = text.indexOf(dataMember); at !== -1; at = text.indexOf(dataMember, at)) {
    const start = text.indexOf(QUOTE, at + dataMember.length);
    if (start === -1) break;
    // A data URL there was counted above.
    const isUrl = text.subarray(start + 1, start + 6).toString("latin1") === "data:";
    at = isUrl || start - at > memberGapMax ? at + dataMember.length : take(start + 1);
  }
  return { bytes, count };
}

/** Between a member's name and its string: a colon and some space. */
const memberGapMax = 16;
