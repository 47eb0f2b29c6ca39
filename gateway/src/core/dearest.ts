import type { NanoUsd, PicoUsd } from "./money.ts";
import type { ClassPrices, PriceTable, PriceVersion } from "./price.ts";

/** The most that a token of either side and an image can cost, whichever class it turns out to be of. Pico-USD. */
export interface DearestPrices {
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  readonly image: PicoUsd;
}

/**
 * The dearest of a price for a call of at most so many input tokens: of every class, every variant and, where the call may be
 * long enough, the prices of a long context.
 */
export function dearestPrices(price: PriceVersion, inputTokensMax: number): DearestPrices {
  let known = cache.get(price);
  if (known === undefined) {
    const tables = [price.table, ...(price.variants ?? []).map(({ table }) => ({ ...price.table, ...table }))];
    known = {
      above: Math.min(...tables.map(({ longContext }) => longContext?.above ?? Number.POSITIVE_INFINITY)),
      plain: dearestOf(tables),
      long: dearestOf(tables.flatMap(withLongContext)),
    };
    cache.set(price, known);
  }
  return inputTokensMax > known.above ? known.long : known.plain;
}

/** What so much costs at those prices, rounded up: an amount to be held. Infinite counts cost the most there is. */
export function costAtMost(
  prices: DearestPrices,
  counts: { readonly input: number; readonly output: number; readonly images: number },
): NanoUsd {
  const pico =
    termOf(prices.input, counts.input) + termOf(prices.output, counts.output) + termOf(prices.image, counts.images);
  return Math.min(Math.ceil(pico / picoPerNano), Number.MAX_SAFE_INTEGER);
}

const picoPerNano = 1_000;

interface Known {
  readonly above: number;
  readonly plain: DearestPrices;
  readonly long: DearestPrices;
}

/** By version object: a new catalog brings new ones. */
const cache = new WeakMap<PriceVersion, Known>();

function withLongContext(table: PriceTable): readonly ClassPrices[] {
  return table.longContext === undefined ? [table] : [table, { ...table, ...table.longContext.prices }];
}

function dearestOf(tables: readonly ClassPrices[]): DearestPrices {
  const most = (...names: readonly (keyof ClassPrices)[]): PicoUsd =>
    Math.max(0, ...tables.flatMap((table) => names.map((name) => table[name] ?? 0)));
  return {
    input: most("inputUncached", "cacheRead", "cacheWrite5m", "cacheWrite1h", "audioInput", "imageInput"),
    output: most("output", "audioOutput", "imageOutput"),
    image: most("images"),
  };
}

/** What costs nothing costs nothing, however many there are. */
function termOf(price: PicoUsd, count: number): number {
  return price === 0 ? 0 : price * count;
}
