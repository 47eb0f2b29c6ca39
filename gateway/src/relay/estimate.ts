import { costOf, type Model, type NanoUsd, noUsage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";

const firstGuess = 256;
const weight = 1 / 16;
const modelsMax = 10_000;

/**
 * What a call will probably use, for its reservation. Input is guessed from the body's size; output is the
 * caller's own cap or, without one, what this model's answers have lately been.
 */
export class UsageForecast {
  readonly #outputs = new Map<string, number>();

  tokens(facts: RequestFacts, model: Model): number {
    return facts.inputEstimate + this.#output(facts, model.name);
  }

  cost(facts: RequestFacts, model: Model): NanoUsd {
    if (model.price === null) return 0;
    return costOf(model.price.table, {
      ...noUsage,
      inputUncached: facts.inputEstimate,
      output: this.#output(facts, model.name),
    });
  }

  learn(model: string, output: number): void {
    const before = this.#outputs.get(model);
    if (before === undefined && this.#outputs.size >= modelsMax) return;
    this.#outputs.set(model, before === undefined ? output : before + (output - before) * weight);
  }

  #output(facts: RequestFacts, model: string): number {
    return facts.outputTokensMax ?? Math.ceil(this.#outputs.get(model) ?? firstGuess);
  }
}
