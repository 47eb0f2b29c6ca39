import type { PriceConfig } from "@sluice/contract/config-file";
import { priceConfigOf, pricesOf } from "#core/index.ts";
import type { ModelRecord } from "#ports/index.ts";
import { listPrice } from "./list-price.ts";
import { priceListEntry, priceListModel } from "./price-list.ts";
import type { PriceListData } from "./read-price-list.ts";

export type PriceSource = ReturnType<typeof priceSource>;

/** Looks up current prices. `now` is Unix milliseconds. */
export function priceSource(data: PriceListData, now: number) {
  const day = new Date(now).toISOString().slice(0, 10);
  const entry = (kind: string, upstreamModel: string) => priceListEntry(data, kind, upstreamModel, day);
  const price = (kind: string, upstreamModel: string) => entry(kind, upstreamModel)?.price ?? null;
  return {
    entry,
    price,
    /** The next different price within thirty days; `from` is Unix milliseconds. */
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

/** A difference between the price list and a model's price. */
export interface PriceChange {
  readonly model: string;
  /** Provider and upstream model of the first deployment. */
  readonly provider: string;
  readonly upstreamModel: string;
  /** When it takes effect, Unix milliseconds; null: once it is applied. */
  readonly from: number | null;
  readonly before: PriceConfig | null;
  readonly after: PriceConfig;
  /** The entry's name only resembles the model's. */
  readonly guessed: boolean;
}

/**
 * The changes that a price list brings: to prices that came from it, and for models without a price that may have one.
 * Manual prices are never changed.
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

/** A future price that is not stored yet, or differs from the stored one. `current` is the price before it. */
function laterChanges(
  { next_price: stored }: ModelRecord,
  next: ReturnType<PriceSource["nextPrice"]>,
  current: PriceConfig | null,
  about: Pick<PriceChange, "model" | "provider" | "upstreamModel" | "guessed">,
): PriceChange[] {
  const before = stored === null ? current : priceConfigOf(stored);
  if (next !== null) {
    const isStored = stored?.effectiveFrom === next.from && isSame(before, next.price);
    return isStored ? [] : [{ ...about, from: next.from, before, after: next.price }];
  }
  if (stored?.origin !== "price_list" || current === null || isSame(before, current)) return [];
  return [{ ...about, from: stored.effectiveFrom, before, after: current }];
}

function isSame(one: PriceConfig | null, other: PriceConfig): boolean {
  return one !== null && samePrice(one, other);
}

function mayChange({ price, unpriced }: ModelRecord): boolean {
  return price === null ? unpriced === null : price.origin === "price_list";
}

function samePrice(one: PriceConfig, other: PriceConfig): boolean {
  return JSON.stringify(pricesOf(one)) === JSON.stringify(pricesOf(other));
}
