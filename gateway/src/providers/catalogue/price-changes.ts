import type { PriceConfig } from "@sluice/contract/config-file";
import { priceConfigOf, pricesOf } from "#core/index.ts";
import type { ModelRecord } from "#ports/index.ts";
import { type CatalogueEntry, catalogueEntry } from "./catalogue.ts";
import type { CatalogueData } from "./read-catalogue.ts";

/** What a catalogue says of a kind's model today. */
export interface PriceSource {
  entry(kind: string, upstreamModel: string): CatalogueEntry | null;
  price(kind: string, upstreamModel: string): PriceConfig | null;
}

/** `now` is Unix milliseconds. */
export function priceSource(data: CatalogueData, now: number): PriceSource {
  const day = new Date(now).toISOString().slice(0, 10);
  const entry = (kind: string, upstreamModel: string) => catalogueEntry(data, kind, upstreamModel, day);
  return { entry, price: (kind, upstreamModel) => entry(kind, upstreamModel)?.price ?? null };
}

/** A price that a catalogue knows and a model has not. */
export interface PriceChange {
  readonly model: string;
  /** Whose model it is named after: its first deployment's. */
  readonly provider: string;
  readonly upstreamModel: string;
  readonly before: PriceConfig | null;
  readonly after: PriceConfig;
  /** The price is of an entry whose name only resembles the model's. */
  readonly guessed: boolean;
}

/**
 * What a catalogue would change: prices that came from it before, and models without a price of which nobody has said that they
 * stay without. A price that somebody set is never among them.
 */
export function priceChanges(
  models: readonly ModelRecord[],
  kinds: ReadonlyMap<string, string>,
  source: PriceSource,
): readonly PriceChange[] {
  return models.flatMap((model): PriceChange[] => {
    if (!mayChange(model)) return [];
    const [first] = model.deployments;
    const kind = kinds.get(first?.provider ?? "");
    if (first === undefined || kind === undefined) return [];
    const after = source.price(kind, first.upstreamModel);
    if (after === null || (model.price !== null && samePrice(priceConfigOf(model.price), after))) return [];
    const before = model.price === null ? null : priceConfigOf(model.price);
    const guessed = source.entry(kind, first.upstreamModel)?.guessed === true;
    return [
      { model: model.name, provider: first.provider, upstreamModel: first.upstreamModel, before, after, guessed },
    ];
  });
}

function mayChange({ price, unpriced }: ModelRecord): boolean {
  return price === null ? unpriced === null || unpriced === "upgrade" : price.origin === "catalogue";
}

function samePrice(one: PriceConfig, other: PriceConfig): boolean {
  return JSON.stringify(pricesOf(one)) === JSON.stringify(pricesOf(other));
}
