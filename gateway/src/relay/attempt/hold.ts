import {
  bounds,
  costAtMost,
  type HoldPrices,
  holdPrices,
  type InputTokens,
  inputCostOf,
  type Model,
  type NanoUsd,
  noWrites,
  onlyCounts,
  type Usage,
} from "#core/index.ts";
import type { Estimate, Money } from "#limits/index.ts";
import { objectBounds, type RequestFacts } from "#protocols/index.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { asksToCache, guessInput } from "./input-guess.ts";

export type EstimateDependencies = Pick<RelayDependencies, "forecast" | "configSnapshot">;

/** What a call needs at one model, beside its output. */
export interface ModelHold {
  readonly model: string;
  readonly input: NanoUsd;
  /** Not charged by tokens. */
  readonly counted: NanoUsd;
  readonly prices: HoldPrices;
  /** Of an input that is all in the body, to be compared with its cost; else 0. */
  readonly guessed: NanoUsd;
}

/** Half as much as recent answers cost is added: from an eighth of the first guess to four times as much. */
const learnedMargin = 3 / 2;
const learnedMin = 1 / 8;
const learnedMax = 4;

/**
 * What a call takes from the limits: the probable cost of its input, and the most that its output can cost, at the dearest model of
 * its plan. See docs/operations.md, Limits.
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

  money(): Money {
    const { facts } = this.#call;
    const ends = canBeEnded(facts);
    let most = 0;
    let least = 0;
    for (const model of this.#models) {
      const hold = this.hold(model);
      if (hold === null) continue;
      const output = outputTokensMax(facts, model);
      most = Math.max(most, hold.input + hold.counted + costAtMost(hold.prices, { output }));
      if (!ends) continue;
      const begun = Math.min(output, bounds.budgetOutputTokensMin);
      least = Math.max(least, hold.input + hold.counted + costAtMost(hold.prices, { output: begun }));
    }
    return { most, least: ends ? least : most };
  }

  /** null: the model has no price. */
  hold(model: Model): ModelHold | null {
    if (model.price === null) return null;
    const known = this.#holdOf(model);
    if (known !== undefined) return known;
    this.#input ??= guessInput(this.#call);
    this.#unseen ??= unseenInput(this.#call);
    const { facts } = this.#call;
    const { text, image, audio } = this.#input;
    // An upstream that generates reads no more than its context window, and with tools of its own reads a prompt again.
    const window = model.contextWindow ?? bounds.contextTokensAssumed;
    const most = facts.outputTokensMax === 0 ? Number.POSITIVE_INFINITY : window;
    const unseen = unseenTokens(this.#unseen, window);
    const all = text + (facts.hosted?.tokens ?? 0) + image + audio + unseen;
    const prices = holdPrices(model.price, Math.min(all, window), () => asksToCache(this.#call));
    const costOf = (input: InputTokens): NanoUsd => {
      const cost = costAtMost(prices, { input });
      return all <= most ? cost : Math.min(cost, costOfWindow(prices, most));
    };
    let guessed = costOf({ text, image, audio });
    if (facts.hosted !== undefined) guessed += costOf({ text: text + facts.hosted.tokens, image, audio });
    let more = unseen === 0 ? 0 : costOf({ text: 0, image: unseen, audio: 0 });
    // What may fill the window may be sound.
    if (this.#unseen.fillsWindow) more = Math.max(more, costOf({ text: 0, image: 0, audio: unseen }));
    const counted = countedCost(facts, prices) + this.#drawn(model, prices);
    const expected = this.#corrected(guessed, model) + more;
    const hold = {
      model: model.name,
      // Whatever was learned, a prompt that is read once is not longer than the window.
      input:
        expected <= guessed || facts.hosted !== undefined ? expected : Math.min(expected, costOfWindow(prices, most)),
      counted,
      prices,
      // A short input says nothing of the next one.
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

  /** Few calls of a key at once are held below the first guess, because what was learned may not be true of all of them. */
  #corrected(guessed: NanoUsd, model: Model): NanoUsd {
    const ratio = this.#dependencies.forecast.inputCostRatio(this.#call, model.name);
    if (ratio === null) return guessed;
    const factor = Math.min(learnedMax, Math.max(learnedMin, ratio * learnedMargin));
    if (factor >= 1) return Math.ceil(guessed * factor);
    this.#isTrusted ||= this.#dependencies.forecast.trust(this.#call);
    return this.#isTrusted ? Math.ceil(guessed * factor) : guessed;
  }

  /** Pictures of a hosted tool, at the price of the dearest image model of the same accounts. */
  #drawn({ deployments }: Model, { output }: HoldPrices): NanoUsd {
    const pictures = this.#call.facts.hosted?.pictures ?? 0;
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
  const dearest = prices.image > prices.audio ? "image" : "audio";
  return costAtMost(prices, { input: { text: 0, image: 0, audio: 0, [dearest]: tokens } });
}

function unseenTokens({ tokens, pictures, fillsWindow }: UnseenInput, window: number): number {
  return fillsWindow ? window : Math.min(window, tokens + pictures * bounds.pictureTokensMax);
}

/** A stream is ended when its money is; what comes as a whole, or is made whoever listens, has to be paid for as a whole. */
function canBeEnded(facts: RequestFacts): boolean {
  return facts.stream && facts.background !== true && facts.images === 0;
}

function countedCost({ images, serverTools, counted }: RequestFacts, prices: HoldPrices): NanoUsd {
  if (serverTools === undefined && counted === undefined && images === 0) return prices.request;
  return costAtMost(prices, { counted: { ...serverTools, ...counted?.most, images, chargedRequests: 1 } });
}

/** Of all choices together. */
function outputTokensMax({ outputTokensMax, choices, images }: RequestFacts, model: Model): number {
  return outputTokensMax ?? (model.outputTokensMax ?? bounds.outputTokensAssumed) * Math.max(1, choices ?? 1, images);
}

/** Input of a call that its body does not hold. */
interface UnseenInput {
  /** Of objects that the vendor keeps, by their records. */
  readonly tokens: number;
  readonly pictures: number;
  /** There is more, of unknown size. */
  readonly fillsWindow: boolean;
}

const nothingUnseen: UnseenInput = Object.freeze({ tokens: 0, pictures: 0, fillsWindow: false });

/** As the tables `objectBounds` and `addressBounds` bound it. */
function unseenInput({ facts, kept }: Pick<Call, "facts" | "kept">): UnseenInput {
  const { continues, objects = [], addressed } = facts;
  if (continues === null && objects.length === 0 && addressed === undefined) return nothingUnseen;
  let { pictures, others } = addressed ?? noMedia;
  let tokens = 0;
  for (const { id, kind, isPicture } of continues === null ? objects : [continues, ...objects]) {
    if (objectBounds[kind] === "nothing") continue;
    const known = kept?.found.get(id)?.inputTokens ?? null;
    if (isPicture === true) pictures++;
    else if (known === null) others++;
    else tokens += known;
  }
  return { tokens, pictures, fillsWindow: others > 0 };
}

const noMedia = { pictures: 0, others: 0 };
