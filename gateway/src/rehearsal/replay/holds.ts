import type { Model } from "#core/index.ts";
import type { PastEntry } from "#storage/in-thread.ts";
import type { Repricing } from "./repricing.ts";

type Models = ReadonlyMap<string, Model>;

export interface PastHold {
  readonly nanoUsd: number;
  /** It differs from the recorded reservation. */
  readonly isEstimated: boolean;
}

/**
 * The money that past calls would reserve. A live call reserves its cost at the most expensive model that may answer it, so at other
 * prices and fallbacks the recorded reservation changes as the highest cost of the recorded usage does.
 */
export class Holds {
  readonly #before: Models;
  readonly #after: Models;
  readonly #repricing: Repricing;
  /** The change concerns no price and no fallback. */
  readonly #areSame: boolean;
  /** By requested model: the models before and after the change; null: the change does not concern them. */
  readonly #pairs = new Map<string, readonly [before: readonly Model[], after: readonly Model[]] | null>();

  constructor(before: Models, after: Models, repricing: Repricing) {
    this.#before = before;
    this.#after = after;
    this.#repricing = repricing;
    const names = new Set([...before.keys(), ...after.keys()]);
    this.#areSame = [...names].every((name) => this.#pairOf(name) === null);
  }

  of(entry: PastEntry): PastHold {
    const { reservedNanoUsd: reserved, requestedModel } = entry;
    if (reserved === 0) return { nanoUsd: this.#repricing.of(entry).cost, isEstimated: true };
    if (this.#areSame) return { nanoUsd: reserved, isEstimated: false };
    let pair = this.#pairs.get(requestedModel);
    if (pair === undefined) {
      pair = this.#pairOf(requestedModel);
      this.#pairs.set(requestedModel, pair);
    }
    if (pair === null) return { nanoUsd: reserved, isEstimated: false };
    const [before, after] = pair.map((models) => this.#mostOf(models, entry)) as [number, number];
    if (before === after || before === 0) return { nanoUsd: reserved, isEstimated: before !== after };
    return { nanoUsd: Math.ceil((reserved * after) / before), isEstimated: true };
  }

  /** The share of an attempt at one model. */
  ofAttempt(entry: PastEntry, model: string): number {
    const { reservedNanoUsd: reserved, requestedModel } = entry;
    const own = this.#after.get(model);
    if (reserved === 0 || own === undefined) return this.of(entry).nanoUsd;
    const before = this.#mostOf(withFallbacks(this.#before, requestedModel), entry);
    return before === 0 ? reserved : Math.ceil((reserved * this.#mostOf([own], entry)) / before);
  }

  #pairOf(name: string): readonly [readonly Model[], readonly Model[]] | null {
    const before = withFallbacks(this.#before, name);
    const after = withFallbacks(this.#after, name);
    const isSame = before.length === after.length && before.every((model, at) => model.price === after[at]?.price);
    return isSame ? null : [before, after];
  }

  #mostOf(models: readonly Model[], entry: PastEntry): number {
    return Math.max(0, ...models.map(({ price }) => (price === null ? 0 : this.#repricing.at(price, entry))));
  }
}

/** A model and its fallbacks. */
export function withFallbacks(models: Models, name: string): readonly Model[] {
  const model = models.get(name);
  return model === undefined ? [] : [model, ...model.fallbacks.flatMap((each) => models.get(each) ?? [])];
}
