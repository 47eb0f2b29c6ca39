import type { PriceConfig } from "@sluice/contract/config-file";
import { priceConfigOf, pricesOf } from "#core/index.ts";
import type { ModelRecord } from "#ports/index.ts";
import { listPrice } from "./list-price.ts";
import { priceListEntry, priceListModel } from "./price-list.ts";
import type { PriceListData } from "./read-price-list.ts";

export type PriceSource = ReturnType<typeof priceSource>;

/** What a price list says of a kind's model today. `now` is Unix milliseconds. */
export function priceSource(data: PriceListData, now: number) {
  const day = new Date(now).toISOString().slice(0, 10);
  const entry = (kind: string, upstreamModel: string) => priceListEntry(data, kind, upstreamModel, day);
  const price = (kind: string, upstreamModel: string) => entry(kind, upstreamModel)?.price ?? null;
  return {
    entry,
    price,
    /** The first other price that begins within thirty days; `from` is Unix milliseconds. */
    nextPrice(kind: string, upstreamModel: string): { readonly from: number; readonly price: PriceConfig } | null {
      const found = priceListModel(data, kind, upstreamModel);
      const before = price(kind, upstreamModel);
      const days = (found?.model.prices ?? []).flatMap(({ from }) => from ?? []).toSorted();
      for (const later of days) {
        const from = Date.parse(later);
        if (found === null || from <= now || from > now + aheadMs) continue;
        const next = listPrice(found, later);
        if (next !== null && (before === null || !samePrice(before, next))) return { from, price: next };
      }
      return null;
    },
  };
}

const aheadMs = 30 * 86_400_000;

/** A price that a price list knows and a model has not. */
export interface PriceChange {
  readonly model: string;
  /** Whose model it is named after: its first deployment's. */
  readonly provider: string;
  readonly upstreamModel: string;
  /** When it comes into force, Unix milliseconds; null: when it is taken. */
  readonly from: number | null;
  readonly before: PriceConfig | null;
  readonly after: PriceConfig;
  /** The price is of an entry whose name only resembles the model's. */
  readonly guessed: boolean;
}

/**
 * What a price list would change: prices that came from it before, and models without a price of which nobody has said that they
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
    const { provider, upstream_model: upstreamModel } = first;
    const guessed = source.entry(kind, upstreamModel)?.guessed === true;
    const about = { model: model.name, provider, upstreamModel, guessed };
    const current = model.price === null ? null : priceConfigOf(model.price);
    const after = source.price(kind, upstreamModel);
    const now = after === null || isSame(current, after) ? [] : [{ ...about, from: null, before: current, after }];
    return [...now, ...laterChanges(model, source.nextPrice(kind, upstreamModel), after ?? current, about)];
  });
}

/** A price that begins later and was not taken in advance, or was and is another now. `current`: what it takes the place of. */
function laterChanges(
  { next_price: taken }: ModelRecord,
  next: ReturnType<PriceSource["nextPrice"]>,
  current: PriceConfig | null,
  about: Pick<PriceChange, "model" | "provider" | "upstreamModel" | "guessed">,
): PriceChange[] {
  const before = taken === null ? current : priceConfigOf(taken);
  if (next !== null) {
    const isTaken = taken?.effectiveFrom === next.from && isSame(before, next.price);
    return isTaken ? [] : [{ ...about, from: next.from, before, after: next.price }];
  }
  if (taken?.origin !== "catalogue" || current === null || isSame(before, current)) return [];
  return [{ ...about, from: taken.effectiveFrom, before, after: current }];
}

function isSame(one: PriceConfig | null, other: PriceConfig): boolean {
  return one !== null && samePrice(one, other);
}

function mayChange({ price, unpriced }: ModelRecord): boolean {
  return price === null ? unpriced === null : price.origin === "catalogue";
}

function samePrice(one: PriceConfig, other: PriceConfig): boolean {
  return JSON.stringify(pricesOf(one)) === JSON.stringify(pricesOf(other));
}
