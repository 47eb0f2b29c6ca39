import {
  bounds,
  type CountedUse,
  costAtMost,
  costOf,
  type HoldPrices,
  holdPrices,
  type Model,
  type NanoUsd,
  noUsage,
  onlyCounts,
  type Usage,
} from "#core/index.ts";
import type { Estimate, Money } from "#limits/index.ts";
import type { RequestFacts } from "#protocols/index.ts";
import type { Call } from "../call.ts";
import type { UsageForecast } from "./estimate.ts";
import { guessInput, type InputGuess } from "./input-guess.ts";

/** What is held for a call at one model, beside its output. */
export interface ModelHold {
  readonly input: NanoUsd;
  /** For what is not charged by tokens. */
  readonly counted: NanoUsd;
  readonly prices: HoldPrices;
  /** What the body alone made of its input: what answers are compared with. */
  readonly guessed: NanoUsd;
}

/** What recent answers cost is held with half as much more, and never as less than an eighth of the first guess. */
const learnedMargin = 3 / 2;
const learnedMin = 1 / 8;

/**
 * What a call takes from the limits. Its money is what its input probably costs, and the most that its output can: at the dearest
 * model of its plan. Input is guessed from the body and corrected by what recent answers cost (docs/operations.md, Limits).
 */
export class CallEstimate implements Estimate {
  readonly tokens: number;
  readonly isFree: boolean;
  readonly #forecast: UsageForecast;
  readonly #call: Call;
  readonly #models: readonly Model[];
  readonly #holds = new Map<string, ModelHold>();
  #input: InputGuess | null = null;
  #isTrusted = false;

  constructor(forecast: UsageForecast, call: Call, models: readonly Model[]) {
    const [model] = models;
    this.tokens = model === undefined ? 0 : forecast.tokens(call, model);
    this.isFree = onlyCounts(call.protocol.endpoint);
    this.#forecast = forecast;
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
      const begun = Math.min(output, bounds.budgetOutputTokensMin);
      most = Math.max(most, hold.input + hold.counted + costAtMost(hold.prices, { output }));
      least = Math.max(least, hold.input + hold.counted + costAtMost(hold.prices, { output: begun }));
    }
    return { most, least: ends ? least : most };
  }

  /** null: the model has no price. */
  hold(model: Model): ModelHold | null {
    if (model.price === null) return null;
    const known = this.#holds.get(model.name);
    if (known !== undefined) return known;
    this.#input ??= guessInput(this.#call);
    const { writes, ...input } = this.#input;
    const window = model.contextWindow ?? Number.POSITIVE_INFINITY;
    const tokens = Math.min(window, input.text + input.image + input.audio);
    const prices = holdPrices(model.price, tokens, writes);
    const full = costAtMost(prices, { input });
    // An upstream reads no more than its context window.
    const guessed = Math.min(full, costAtMost(prices, { input: { text: 0, image: 0, audio: tokens } }));
    const counted = costAtMost(prices, { counted: countedMax(this.#call.facts) });
    const hold = { input: this.#corrected(guessed, model), counted, prices, guessed };
    this.#holds.set(model.name, hold);
    return hold;
  }

  /** What the upstream reported of a call that this was held for. */
  learn(model: Model, usage: Usage): void {
    const guessed = this.#holds.get(model.name)?.guessed ?? 0;
    const paid = model.price === null ? 0 : inputCost(model.price.table, usage);
    this.#forecast.learn(this.#call, model.name, usage, guessed === 0 ? null : { guessed, paid });
  }

  /** The call has ended, or was not admitted. */
  end(): void {
    if (this.#isTrusted) this.#forecast.distrust(this.#call);
    this.#isTrusted = false;
  }

  /** Few calls of a key at once are held below the first guess: what it taught could not hold for all that it sends together. */
  #corrected(guessed: NanoUsd, model: Model): NanoUsd {
    const ratio = this.#forecast.inputCostRatio(this.#call, model.name);
    if (ratio === null) return guessed;
    const factor = Math.max(learnedMin, ratio * learnedMargin);
    if (factor >= 1) return Math.ceil(guessed * factor);
    this.#isTrusted ||= this.#forecast.trust(this.#call);
    return this.#isTrusted ? Math.ceil(guessed * factor) : guessed;
  }
}

/** What the input of a usage costs. */
export function inputCost(table: Parameters<typeof costOf>[0], usage: Usage): NanoUsd {
  const { inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, audioInput, imageInput } = usage;
  return costOf(table, { ...noUsage, inputUncached, cacheRead, cacheWrite5m, cacheWrite1h, audioInput, imageInput });
}

/** A stream is ended when its money is; what comes as a whole, or is made whoever listens, has to be paid for as a whole. */
function canBeEnded(facts: RequestFacts): boolean {
  return facts.stream && facts.background !== true && facts.images === 0;
}

/** The most that a call can be charged for by something other than tokens. */
function countedMax({ images, serverTools, counted }: RequestFacts): CountedUse {
  if (serverTools === undefined && counted === undefined) return { images, chargedRequests: 1 };
  return { ...serverTools, ...counted?.most, images, chargedRequests: 1 };
}

/** Of all choices together. */
function outputTokensMax({ outputTokensMax, choices, images }: RequestFacts, model: Model): number {
  return outputTokensMax ?? (model.outputTokensMax ?? bounds.outputTokensAssumed) * Math.max(1, choices ?? 1, images);
}
