import {
  bounds,
  costAtMost,
  Failure,
  type HoldPrices,
  holdPrices,
  inputCostOf,
  inputTokensOf,
  noWrites,
  type PriceVersion,
  type Usage,
} from "#core/index.ts";
import type { Permit } from "#limits/index.ts";
import type { ModelHold } from "./hold.ts";

/**
 * The money that is held for one stream, as the output it pays for. When the output comes near to that, more is held, step by step;
 * when nothing is left the stream is to be ended. Input costs what was held for it until the upstream reports it. So a stream costs
 * at most what is held, what its input was dearer than that, and one piece of its upstream's.
 */
export class StreamMoney {
  readonly #permit: Permit;
  readonly #price: PriceVersion;
  readonly #counted: number;
  #prices: HoldPrices;
  /** With what is counted. */
  #inputCost: number;
  #inputTokens = 0;
  /** Input was dearer than held, and the rest of it is being asked for. */
  #owesInput = false;
  /** Up to here no more need be held. */
  #quietUntil = 0;
  #paidUntil = 0;
  #asking = false;

  constructor(permit: Permit, hold: ModelHold, price: PriceVersion) {
    this.#permit = permit;
    this.#price = price;
    this.#counted = hold.counted;
    this.#prices = hold.prices;
    this.#inputCost = hold.input + hold.counted;
    this.#reckon();
  }

  /** Returns the failure that the stream has to end with. `usage`: as reported so far. */
  check(outputTokens: number, usage: Usage | null): Failure | null {
    if (usage !== null) this.#takeInput(usage);
    return outputTokens < this.#quietUntil ? null : this.#lookCloser(outputTokens);
  }

  #takeInput(usage: Usage): void {
    const tokens = inputTokensOf(usage);
    if (tokens <= this.#inputTokens) return;
    this.#inputTokens = tokens;
    const cost = this.#counted + inputCostOf(this.#price.table, usage);
    this.#prices = holdPrices(this.#price, tokens, noWrites);
    this.#owesInput ||= cost > this.#inputCost;
    this.#inputCost = cost;
    this.#reckon();
  }

  #lookCloser(outputTokens: number): Failure | null {
    if (!this.#asking) {
      const missing = this.#inputCost + this.#costOf(outputTokens) - this.#permit.held;
      const step = this.#costOf(bounds.budgetStepTokens) + Math.max(0, missing);
      const got = this.#permit.topUp(step, this.#costOf(leastStepTokens) + Math.max(0, missing));
      if (got instanceof Promise) {
        this.#asking = true;
        void got.then(
          (later) => this.#answered(later),
          () => this.#answered(0),
        );
      } else this.#answered(got);
    }
    if (outputTokens < this.#paidUntil || (this.#asking && this.#owesInput)) return null;
    return new Failure(
      "budget_exceeded",
      "The stream was ended: what was held for it is used up, and its budget has nothing left to go on.",
    );
  }

  #answered(got: number): void {
    this.#asking = false;
    this.#owesInput = false;
    this.#reckon();
    // Use the rest, and ask again only with its last tokens.
    if (got === 0) this.#quietUntil = Math.max(this.#quietUntil, this.#paidUntil - leastStepTokens);
  }

  #costOf(output: number): number {
    return costAtMost(this.#prices, { output });
  }

  #reckon(): void {
    const left = this.#permit.held - this.#inputCost;
    const { output } = this.#prices;
    this.#paidUntil =
      output === 0 && left >= 0 ? Number.POSITIVE_INFINITY : Math.floor((left * 1_000) / Math.max(1, output));
    this.#quietUntil = this.#paidUntil - bounds.budgetStepTokens / 2;
  }
}

/** Less than this is not worth a step. */
const leastStepTokens = 16;
