import { BoundedMap, bounds, inputTokensOf, type Model, type Usage } from "#core/index.ts";
import type { RequestFacts } from "#protocols/index.ts";

/** What the answers of one model have lately been. */
interface Experience {
  output: number;
  /** Tokens that the upstream counted for each token guessed from the size of the input. */
  inputRatio: number;
}

const firstGuess = 256;
const weight = 1 / 16;
const modelsMax = 10_000;
/** Beyond these an input is not text for the most part (pictures), and says nothing of the next one. */
const ratioMin = 0.2;
const ratioMax = 3;

/**
 * What a call will probably use, for its rates and for answers that report nothing. Input is guessed from the
 * body's size, corrected by what this model's upstreams have counted so far; output is the caller's own cap or, without
 * one, what this model's answers have lately been.
 */
export class UsageForecast {
  readonly #models = new BoundedMap<string, Experience>(modelsMax);

  tokens(facts: RequestFacts, model: Model): number {
    return this.input(facts, model.name) + this.#output(facts, model.name);
  }

  input(facts: RequestFacts, model: string): number {
    return Math.ceil(facts.inputEstimate * (this.#models.get(model)?.inputRatio ?? 1));
  }

  /** Takes what an upstream reported for a call. */
  learn(model: string, facts: RequestFacts, usage: Usage): void {
    const known = this.#models.get(model);
    if (known === undefined) {
      this.#models.set(model, { output: usage.output, inputRatio: this.#ratio(facts, usage, 1) });
      return;
    }
    known.output += (usage.output - known.output) * weight;
    known.inputRatio += (this.#ratio(facts, usage, known.inputRatio) - known.inputRatio) * weight;
  }

  /** `otherwise` for a call that says nothing: a short one, or one that is mostly not text. */
  #ratio(facts: RequestFacts, usage: Usage, otherwise: number): number {
    const counted = inputTokensOf(usage);
    if (facts.inputEstimate < bounds.calibrationTokensMin || counted === 0) return otherwise;
    const ratio = counted / facts.inputEstimate;
    return ratio < ratioMin || ratio > ratioMax ? otherwise : ratio;
  }

  #output(facts: RequestFacts, model: string): number {
    return facts.outputTokensMax ?? Math.ceil(this.#models.get(model)?.output ?? firstGuess);
  }
}
