import { isAscii } from "node:buffer";
import {
  bounds,
  type CacheWrites,
  costAtMost,
  Failure,
  type HoldPrices,
  holdPrices,
  type InputTokens,
  inputCostAtMost,
  inputCostOf,
  inputTokensOf,
  type Model,
  type NanoUsd,
  noWrites,
  onlyCounts,
  outputCostAtMost,
  type PolicyCall,
  type PriceVersion,
  policyCall,
  type StoredFile,
  type Usage,
} from "#core/index.ts";
import type { Estimate, Money, Permit } from "#limits/index.ts";
import {
  asBuffer,
  cacheWrites,
  measureInlineMedia,
  noInlineMedia,
  objectBounds,
  type RequestFacts,
} from "#protocols/index.ts";
import type { Call, RelayDependencies } from "../call.ts";

export type EstimateDependencies = Pick<RelayDependencies, "forecast" | "configSnapshot">;

/** The hold of a call at one model, without its output. */
export interface ModelHold {
  readonly model: string;
  readonly input: NanoUsd;
  /** Charged by other measures than tokens. */
  readonly counted: NanoUsd;
  readonly prices: HoldPrices;
  /** Estimated cost of an input that is all in the body, to be compared with its real cost; else 0. */
  readonly guessed: NanoUsd;
}

/** Recent costs are multiplied by 1.5. The result is at least an eighth of the first estimate, and at most four times as much. */
const learnedMargin = 3 / 2;
const learnedMin = 1 / 8;
const learnedMax = 4;

/**
 * The share of the limits that a call reserves: the probable cost of its input, and the maximum cost of its output, at the most
 * expensive model of its plan. See docs/limits.md.
 */
export class CallEstimate implements Estimate {
  readonly tokens: number;
  readonly isFree: boolean;
  readonly #dependencies: EstimateDependencies;
  readonly #call: Call;
  readonly #models: readonly Model[];
  readonly #holds: ModelHold[] = [];
  #input: InputTokens | null = null;
  #unseen: UnseenInput | null = null;
  #isTrusted = false;

  constructor(dependencies: EstimateDependencies, call: Call, models: readonly Model[]) {
    const [model] = models;
    this.tokens = model === undefined ? 0 : dependencies.forecast.tokens(call, model);
    this.isFree = onlyCounts(call.protocol.endpoint);
    this.#dependencies = dependencies;
    this.#call = call;
    this.#models = models;
  }

  get call(): PolicyCall {
    return policyCall(this.#models, this.#call.tags);
  }

  money(): Money {
    return this.#moneyOf(this.#models);
  }

  /** The share of an attempt alone. */
  ofAttempt(model: Model): Pick<Estimate, "money" | "isFree"> {
    return { isFree: this.isFree, money: () => this.#moneyOf([model]) };
  }

  #moneyOf(models: readonly Model[]): Money {
    const { facts } = this.#call;
    const ends = canBeEnded(facts);
    let most = 0;
    let least = 0;
    for (const model of models) {
      const hold = this.hold(model);
      if (hold === null) continue;
      const output = outputTokensMax(facts, model);
      most = Math.max(most, hold.input + hold.counted + outputCostAtMost(hold.prices, output));
      if (!ends) continue;
      const begun = Math.min(output, bounds.budgetOutputTokensMin);
      least = Math.max(least, hold.input + hold.counted + outputCostAtMost(hold.prices, begun));
    }
    return { most, least: ends ? least : most };
  }

  /** null: the model has no price. */
  hold(model: Model): ModelHold | null {
    if (model.price === null) return null;
    const found = this.#holdOf(model);
    if (found !== undefined) return found;
    this.#input ??= guessInput(this.#call);
    this.#unseen ??= unseenInput(this.#call);
    const { facts } = this.#call;
    const { text, image, audio } = this.#input;
    // An upstream that generates reads at most its context window. With hosted tools it reads a prompt again.
    const window = model.contextWindow ?? bounds.contextTokensAssumed;
    const most = facts.outputTokensMax === 0 ? Number.POSITIVE_INFINITY : window;
    const unseen = unseenTokens(this.#unseen, window);
    const all = text + (facts.hostedInput?.tokens ?? 0) + image + audio + unseen;
    const prices = holdPrices(model.price, Math.min(all, window), () => asksToCache(this.#call));
    const costMost = all <= most ? Number.POSITIVE_INFINITY : costOfWindow(prices, most);
    let guessed = Math.min(costMost, inputCostAtMost(prices, text, image, audio));
    if (facts.hostedInput !== undefined) {
      guessed += Math.min(costMost, inputCostAtMost(prices, text + facts.hostedInput.tokens, image, audio));
    }
    let more = unseen === 0 ? 0 : Math.min(costMost, inputCostAtMost(prices, 0, unseen, 0));
    // Input of unknown size may be audio.
    if (this.#unseen.fillsWindow) more = Math.max(more, Math.min(costMost, inputCostAtMost(prices, 0, 0, unseen)));
    const counted = countedCost(facts, prices) + this.#pictureCost(model, prices);
    const expected = this.#corrected(guessed, model) + more;
    const hold = {
      model: model.name,
      // A prompt that is read once is not longer than the window, even if recent costs suggest it.
      input:
        expected <= guessed || facts.hostedInput !== undefined
          ? expected
          : Math.min(expected, costOfWindow(prices, most)),
      counted,
      prices,
      // Short inputs are not compared: the next one may differ.
      guessed: unseen === 0 && facts.inputEstimate >= bounds.calibrationTokensMin ? guessed : 0,
    };
    this.#holds.push(hold);
    return hold;
  }

  #holdOf({ name }: Model): ModelHold | undefined {
    for (const hold of this.#holds) if (hold.model === name) return hold;
    return undefined;
  }

  learn(model: Model, usage: Usage): void {
    const guessed = this.#holdOf(model)?.guessed ?? 0;
    const isCompared = guessed > 0 && model.price !== null;
    const cost = isCompared ? { guessed, paid: inputCostOf(model.price.table, usage) } : null;
    this.#dependencies.forecast.learn(this.#call, model.name, usage, cost);
  }

  end(): void {
    if (this.#isTrusted) this.#dependencies.forecast.distrust(this.#call);
    this.#isTrusted = false;
  }

  /** Only a few calls of a key at the same time are held below the first estimate: recent costs may not fit each of them. */
  #corrected(guessed: NanoUsd, model: Model): NanoUsd {
    const ratio = this.#dependencies.forecast.inputCostRatio(this.#call, model.name);
    if (ratio === null) return guessed;
    const factor = Math.min(learnedMax, Math.max(learnedMin, ratio * learnedMargin));
    if (factor >= 1) return Math.ceil(guessed * factor);
    this.#isTrusted ||= this.#dependencies.forecast.trust(this.#call);
    return this.#isTrusted ? Math.ceil(guessed * factor) : guessed;
  }

  /** Pictures of a hosted tool, at the price of the most expensive image model of the same accounts. */
  #pictureCost({ deployments }: Model, { output }: HoldPrices): NanoUsd {
    const pictures = this.#call.facts.hostedInput?.pictures ?? 0;
    if (pictures === 0) return 0;
    const accounts = new Set(deployments.map(({ provider }) => provider.id));
    let perToken = output;
    for (const other of this.#dependencies.configSnapshot().models.values()) {
      if (other.type !== "image" || other.price === null) continue;
      if (!other.deployments.some(({ provider }) => accounts.has(provider.id))) continue;
      perToken = Math.max(perToken, holdPrices(other.price, 0, noWrites).output);
    }
    return Math.ceil((pictures * bounds.drawnTokensMax * perToken) / 1_000);
  }
}

function costOfWindow(prices: HoldPrices, tokens: number): NanoUsd {
  const kind = prices.image > prices.audio ? "image" : "audio";
  return kind === "image" ? inputCostAtMost(prices, 0, tokens, 0) : inputCostAtMost(prices, 0, 0, tokens);
}

function unseenTokens({ tokens, pictures, fillsWindow }: UnseenInput, window: number): number {
  return fillsWindow ? window : Math.min(window, tokens + pictures * bounds.pictureTokensMax);
}

/** A stream can be ended when its money is used up. A whole answer, or one that is made in the background, is paid for in full. */
function canBeEnded(facts: RequestFacts): boolean {
  return facts.stream && facts.background !== true && facts.images === 0;
}

function countedCost({ images, serverTools, estimatedUse }: RequestFacts, prices: HoldPrices): NanoUsd {
  if (serverTools === undefined && estimatedUse === undefined && images === 0) return prices.request;
  return costAtMost(prices, { counted: { ...serverTools, ...estimatedUse?.most, images, chargedRequests: 1 } });
}

/** The sum over all choices. */
function outputTokensMax({ outputTokensMax, choices, images }: RequestFacts, model: Model): number {
  return outputTokensMax ?? (model.outputTokensMax ?? bounds.outputTokensAssumed) * Math.max(1, choices ?? 1, images);
}

/** Input of a call that is not in its body. */
interface UnseenInput {
  /** Objects that the vendor stores, by their records. */
  readonly tokens: number;
  readonly pictures: number;
  /** There is more input, of unknown size. */
  readonly fillsWindow: boolean;
}

const nothingUnseen: UnseenInput = Object.freeze({ tokens: 0, pictures: 0, fillsWindow: false });

/** Bounded by the tables `objectBounds` and `addressBounds`. */
function unseenInput({ facts, kept, files }: Pick<Call, "facts" | "kept" | "files">): UnseenInput {
  const { continues, objects = [], mediaByUrl } = facts;
  if (continues === null && objects.length === 0 && mediaByUrl === undefined) return nothingUnseen;
  let { pictures, others } = mediaByUrl ?? { pictures: 0, others: 0 };
  let tokens = 0;
  for (const { id, kind, isPicture } of continues === null ? objects : [continues, ...objects]) {
    if (objectBounds[kind] === "nothing") continue;
    const file = files?.get(id);
    const inputTokens = file === undefined ? (kept?.found.get(id)?.inputTokens ?? null) : fileTokens(file);
    if (isPicture === true || file?.mediaType.startsWith("image/") === true) pictures++;
    else if (inputTokens === null) others++;
    else tokens += inputTokens;
  }
  return { tokens, pictures, fillsWindow: others > 0 };
}

/** As for text, which has the most tokens for its size. */
function fileTokens({ sizeBytes }: StoredFile): number {
  return Math.ceil((sizeBytes / bytesPerToken) * margin);
}

/** Four bytes of text per token, half a token for each byte outside of ASCII (a Chinese character has three), and a margin. */
const bytesPerToken = 4;
const margin = 5 / 4;

/** The probable input in the body of a call, with a margin. */
export function guessInput({ facts, body }: Pick<Call, "facts" | "body">): InputTokens {
  if (facts.inputTokensMax !== undefined) return { text: 0, image: 0, audio: facts.inputTokensMax };
  if (!(body instanceof Uint8Array)) return { text: Math.ceil(facts.inputEstimate * margin), image: 0, audio: 0 };
  const media = facts.mayHoldMedia === false ? noInlineMedia : measureInlineMedia(asBuffer(body));
  // The whole body: schemas of answers and other settings are input, too. An endpoint may read a part of it several times.
  const read = facts.mayHoldMedia === true ? 0 : facts.inputEstimate;
  const textTokens = Math.max(read, (body.length - media.bytes) / bytesPerToken);
  const text = Math.ceil(textTokens * (1 + nonAsciiShare(body)) * margin) + media.document;
  const { image, audio } = media;
  return { text, image, audio };
}

/** Whether a call asks for a prompt cache to be written. */
export function asksToCache({ facts, body, protocol }: Pick<Call, "facts" | "body" | "protocol">): CacheWrites {
  if (facts.inputTokensMax !== undefined || !(body instanceof Uint8Array)) return noWrites();
  return cacheWrites(asBuffer(body), protocol.wireDialect);
}

/** A large body with other characters is sampled. */
function nonAsciiShare(bytes: Uint8Array): number {
  if (isAscii(bytes)) return 0;
  const parts = bytes.length > sampleBytes * samples ? samples : 1;
  const size = parts === 1 ? bytes.length : sampleBytes;
  const step = parts === 1 ? 0 : (bytes.length - size) / (parts - 1);
  let count = 0;
  for (let part = 0; part < parts; part++) {
    const from = Math.floor(part * step);
    for (let at = from; at < from + size; at++) if ((bytes[at] as number) >= 0x80) count++;
  }
  return count / (size * parts);
}

const samples = 64;
const sampleBytes = 512;

/** Estimated tokens of a file that the vendor stores, by its size and its media type or name: text, a picture, or packed text. */
export function guessFile(bytes: number, type: string): number {
  if (/^image\/|\.(?:png|jpe?g|gif|webp)$/i.test(type)) return bounds.pictureTokensMax;
  const isText = /^text\/|^application\/(?:json|xml)|\.(?:txt|md|jsonl?|csv|html?|xml|[cm]?[jt]sx?|py)$/i.test(type);
  return Math.ceil(isText ? (bytes * margin) / bytesPerToken : (bytes * 4) / 3);
}

/**
 * The money that is held for one stream, as the number of output tokens that it pays for. When the output comes near that number, more
 * is held, step by step; when nothing is left, the stream has to end. Until the upstream reports the input, its cost is the amount held
 * for it. So a stream costs at most the held amount, the excess of its input over its hold, and one piece of its upstream's.
 */
export class StreamMoney {
  readonly #permit: Permit;
  readonly #price: PriceVersion;
  readonly #counted: number;
  #prices: HoldPrices;
  /** Includes `#counted`. */
  #inputCost: number;
  #inputTokens = 0;
  /** The input cost more than its hold, and the difference is being requested. */
  #owesInput = false;
  /** Output tokens up to which no more has to be held, and output tokens that the hold pays for. */
  #quietUntil = 0;
  #paidUntil = 0;
  #isAsking = false;

  constructor(permit: Permit, hold: ModelHold, price: PriceVersion) {
    this.#permit = permit;
    this.#price = price;
    this.#counted = hold.counted;
    this.#prices = hold.prices;
    this.#inputCost = hold.input + hold.counted;
    this.#recount();
  }

  /** Returns the failure that the stream has to end with. `usage`: as reported so far. */
  check(outputTokens: number, usage: Usage | null): Failure | null {
    if (usage !== null) this.#takeInput(usage);
    return outputTokens < this.#quietUntil ? null : this.#topUp(outputTokens);
  }

  #takeInput(usage: Usage): void {
    const tokens = inputTokensOf(usage);
    if (tokens <= this.#inputTokens) return;
    this.#inputTokens = tokens;
    const cost = this.#counted + inputCostOf(this.#price.table, usage);
    this.#prices = holdPrices(this.#price, tokens, noWrites);
    this.#owesInput ||= cost > this.#inputCost;
    this.#inputCost = cost;
    this.#recount();
  }

  #topUp(outputTokens: number): Failure | null {
    if (!this.#isAsking) {
      const missing = this.#inputCost + this.#costOf(outputTokens) - this.#permit.held;
      const step = this.#costOf(bounds.budgetStepTokens) + Math.max(0, missing);
      const got = this.#permit.topUp(step, this.#costOf(leastStepTokens) + Math.max(0, missing));
      if (got instanceof Promise) {
        this.#isAsking = true;
        void got.then(
          (later) => this.#toppedUp(later),
          () => this.#toppedUp(0),
        );
      } else this.#toppedUp(got);
    }
    if (outputTokens < this.#paidUntil || (this.#isAsking && this.#owesInput)) return null;
    return new Failure(
      "budget_exceeded",
      "The stream was ended: the money held for it is used up, and its budget has nothing left.",
    );
  }

  #toppedUp(got: number): void {
    this.#isAsking = false;
    this.#owesInput = false;
    this.#recount();
    // Use the rest first, and ask again with its last tokens.
    if (got === 0) this.#quietUntil = Math.max(this.#quietUntil, this.#paidUntil - leastStepTokens);
  }

  #costOf(output: number): number {
    return outputCostAtMost(this.#prices, output);
  }

  #recount(): void {
    const left = this.#permit.held - this.#inputCost;
    const { output } = this.#prices;
    this.#paidUntil =
      output === 0 && left >= 0 ? Number.POSITIVE_INFINITY : Math.floor((left * 1_000) / Math.max(1, output));
    this.#quietUntil = this.#paidUntil - bounds.budgetStepTokens / 2;
  }
}

/** Less than this is not worth a step. */
const leastStepTokens = 16;
