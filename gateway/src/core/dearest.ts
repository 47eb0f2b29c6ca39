import type { NanoUsd, PicoUsd } from "./money.ts";
import type { ClassPrices, PriceTable, PriceVersion } from "./price.ts";
import { type CountedClass, countedClasses, inputClasses, outputClasses } from "./usage.ts";

/** The most that a token of either side can cost, whichever class it turns out to be of, and what is counted otherwise. Pico-USD. */
export interface DearestPrices {
  readonly input: PicoUsd;
  readonly output: PicoUsd;
  readonly counted: Readonly<Record<CountedClass, PicoUsd>>;
}

/** How many of what is charged by something other than tokens; what is left out is none. */
export type CountedUse = { readonly [Class in CountedClass]?: number };

export interface HeldCounts {
  readonly input: number;
  readonly output: number;
  readonly counted?: CountedUse | undefined;
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
export function costAtMost(prices: DearestPrices, { input, output, counted }: HeldCounts): NanoUsd {
  let pico = termOf(prices.input, input) + termOf(prices.output, output);
  if (counted !== undefined) {
    for (const name of countedClasses) pico += termOf(prices.counted[name], counted[name] ?? 0);
  }
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
    input: most(...inputClasses),
    output: most(...outputClasses),
    counted: Object.fromEntries(countedClasses.map((name) => [name, most(name)])) as Record<CountedClass, PicoUsd>,
  };
}

/** What costs nothing costs nothing, however many there are. */
function termOf(price: PicoUsd, count: number): number {
  return price === 0 ? 0 : price * count;
}
