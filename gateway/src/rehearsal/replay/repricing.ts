import {
  baseVersionId,
  type Model,
  type PriceTerms,
  type PriceVersion,
  type Provider,
  pricePerCallNamed,
  type Served,
  type ServedAxis,
  servedAxes,
  settle,
  usualTerms,
} from "#core/index.ts";
import { priceTermsOf } from "#providers/index.ts";
import { type Connection, type PastEntry, usageOf } from "#storage/in-thread.ts";
import type { Route } from "./route.ts";

/** The cost of a past attempt at the changed prices. */
export interface Repriced {
  readonly cost: number;
  /** `vendor`: the vendor's cost was booked and stays. */
  readonly by: "record" | "price" | "vendor";
}

/** Calculates the cost of past attempts at changed prices, with the code that settles live calls. */
export class Repricing {
  readonly #prices: ReadonlyMap<string, PriceVersion>;
  readonly #terms: ReadonlyMap<string, PriceTerms>;
  /** Models by the ids of their price versions; null: not stored. */
  readonly #owners = new Map<string, string | null>();

  /** `prices`: changed ones, by model. */
  constructor(prices: ReadonlyMap<string, PriceVersion>, models: Iterable<Model>) {
    this.#prices = prices;
    const providers = new Map<string, Provider>();
    for (const { deployments } of models) for (const { provider } of deployments) providers.set(provider.id, provider);
    this.#terms = new Map([...providers].map(([id, provider]) => [id, priceTermsOf(provider)]));
  }

  /** Reads the models of price versions that are new in these entries. */
  async read(connection: Connection, entries: readonly PastEntry[]): Promise<void> {
    if (this.#prices.size === 0) return;
    const ids = new Set<string>();
    for (const { priceVersion } of entries) {
      const id = priceVersion === null ? null : baseVersionId(priceVersion);
      if (id !== null && !this.#owners.has(id)) ids.add(id);
    }
    if (ids.size === 0) return;
    for (const id of ids) this.#owners.set(id, null);
    const rows = await connection
      .selectFrom("prices")
      .select(["id", "model"])
      .where("id", "in", [...ids])
      .execute();
    for (const { id, model } of rows) this.#owners.set(id, model);
  }

  of(entry: PastEntry): Repriced {
    const recorded = { cost: entry.costNanoUsd, by: "record" } as const;
    if (this.#prices.size === 0) return recorded;
    const { priceVersion } = entry;
    if (priceVersion !== null && pricePerCallNamed(priceVersion) !== null) return recorded;
    const owner = priceVersion === null ? null : (this.#owners.get(baseVersionId(priceVersion)) ?? null);
    const price = this.#prices.get(owner ?? entry.model);
    if (price === undefined) return recorded;
    return entry.isVendorCost
      ? { cost: entry.costNanoUsd, by: "vendor" }
      : { cost: this.at(price, entry), by: "price" };
  }

  /** The cost of an attempt at another deployment, for the recorded usage. */
  routed({ model, deployment }: Route, entry: PastEntry): Repriced {
    const cost = model.price === null ? 0 : this.at(model.price, entry, deployment.provider.id);
    return { cost, by: "price" };
  }

  at(price: PriceVersion, entry: PastEntry, provider = entry.provider): number {
    const terms = this.#terms.get(provider) ?? usualTerms;
    const served = servedOf(entry.served, price, terms);
    const settled = settle({ price, usage: usageOf(entry.usage), served, terms, upstreamModel: entry.upstreamModel });
    return settled.costNanoUsd;
  }
}

/** Reads the words of an entry, which are in the order of the axes: each belongs to the first axis that knows it. */
function servedOf(text: string | null, price: PriceVersion, terms: PriceTerms): Served | undefined {
  if (text === null) return undefined;
  const served: { [Axis in ServedAxis]?: string } = {};
  let next = 0;
  for (const word of text.split(" ")) {
    const axes = servedAxes.slice(next);
    const axis = axes.find((each) => hasWord(each, word, price, terms)) ?? axes[0];
    if (axis === undefined) break;
    served[axis] = word;
    next = servedAxes.indexOf(axis) + 1;
  }
  return served;
}

function hasWord(axis: ServedAxis, word: string, { variants = [] }: PriceVersion, { factors }: PriceTerms): boolean {
  return (
    variants.some((variant) => variant[axis] === word) ||
    factors.some((factor) => factor.axis === axis && factor.word === word)
  );
}
