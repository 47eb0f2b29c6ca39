import { bounds, costAtMost, dearestPrices, Failure, type HeldCounts, type Model } from "#core/index.ts";
import type { Permit } from "#limits/index.ts";

/**
 * The money that is held for one stream, as the output it pays for. Asked with each piece that passes; when the output comes
 * near to what is paid for, more is held, step by step, and when there is no more the stream is to be ended. So a stream costs
 * at most what is held and one piece of its upstream's, as far as what was made is seen in what is sent.
 */
export class StreamMoney {
  readonly #permit: Permit;
  readonly #inputCost: number;
  readonly #costOf: (output: number) => number;
  readonly #perToken: number;
  /** Output up to here needs no thought. */
  #quietUntil = 0;
  #paidUntil = 0;
  #asking = false;

  constructor(permit: Permit, model: Model, inputTokensMax: number, counted: HeldCounts["counted"]) {
    const prices = model.price === null ? null : dearestPrices(model.price, inputTokensMax);
    this.#permit = permit;
    this.#perToken = prices?.output ?? 0;
    this.#costOf = (output) => (prices === null ? 0 : costAtMost(prices, { input: 0, output }));
    this.#inputCost = prices === null ? 0 : costAtMost(prices, { input: inputTokensMax, output: 0, counted });
    this.#reckon();
  }

  /** The failure that the stream has to end with, when its money is used up. */
  check(outputTokens: number): Failure | null {
    return outputTokens < this.#quietUntil ? null : this.#lookCloser(outputTokens);
  }

  #lookCloser(outputTokens: number): Failure | null {
    if (!this.#asking) {
      const step = Math.max(bounds.budgetStepTokens, outputTokens + bounds.budgetStepTokens - this.#paidUntil);
      const got = this.#permit.topUp(this.#costOf(step), this.#costOf(leastStepTokens));
      if (got instanceof Promise) {
        this.#asking = true;
        void got.then(
          (later) => this.#answered(later),
          () => this.#answered(0),
        );
      } else this.#answered(got);
    }
    if (outputTokens < this.#paidUntil) return null;
    return new Failure(
      "budget_exceeded",
      "The stream was ended: what was held for it is used up, and its budget has nothing left to go on.",
    );
  }

  #answered(got: number): void {
    this.#asking = false;
    this.#reckon();
    // Nothing came: the rest of what is paid for is used, and asked again only with its last tokens.
    if (got === 0) this.#quietUntil = Math.max(this.#quietUntil, this.#paidUntil - leastStepTokens);
  }

  #reckon(): void {
    const left = this.#permit.held - this.#inputCost;
    this.#paidUntil = this.#perToken === 0 ? Number.POSITIVE_INFINITY : Math.floor((left * 1_000) / this.#perToken);
    this.#quietUntil = this.#paidUntil - bounds.budgetStepTokens / 2;
  }
}

/** Less than this is not worth a step. */
const leastStepTokens = 16;
