import type { NanoUsd, PicoUsd } from "./money.ts";
import type { ClassPrices, PriceTable, PriceVariant, PriceVersion } from "./price.ts";
import { type CountedClass, countedClasses, outputClasses } from "./usage.ts";

/** For how long a request asks the upstream to keep its prompt in a cache, which is charged when it is written. */
export type CacheWrites = "none" | "short" | "long";

/** Input tokens by what they are priced as. */
export interface InputTokens {
  readonly text: number;
  readonly image: number;
  readonly audio: number;
}

/** What money is held at, in pico-USD. Of output and of what is counted: the dearest that it may turn out to be. */
export interface HoldPrices extends InputTokens {
  readonly output: PicoUsd;
  readonly counted: Readonly<Record<CountedClass, PicoUsd>>;
  /** What a request costs that nothing else is counted of, in nano-USD. */
  readonly request: NanoUsd;
}

/** How many of what is charged by something other than tokens; what is left out is none. */
export type CountedUse = { readonly [Class in CountedClass]?: number };

export interface HeldCounts {
  readonly input?: InputTokens | undefined;
  readonly output?: number | undefined;
  readonly counted?: CountedUse | undefined;
}

/**
 * The prices that a call of about so many input tokens is held at: input at the class that the request asks for, the rest at the
 * dearest class; those of a long context where the estimate exceeds its threshold. Of variants the dearest counts, but for those of
 * a tier, a region or a speed, which only the answer tells.
 */
export function holdPrices(price: PriceVersion, inputTokens: number, writes: () => CacheWrites): HoldPrices {
  let known = cache.get(price);
  if (known === undefined) {
    const tables = [
      price.table,
      ...(price.variants ?? []).filter(isAskedFor).map(({ table }) => ({ ...price.table, ...table })),
    ];
    known = {
      above: Math.min(...tables.map(({ longContext }) => longContext?.above ?? Number.POSITIVE_INFINITY)),
      plain: pricesOf(tables),
      long: pricesOf(tables.flatMap(withLongContext)),
    };
    cache.set(price, known);
  }
  const prices = inputTokens > known.above ? known.long : known.plain;
  // Most vendors charge nothing of their own for that: what is asked for need not be known.
  return prices.long.text === prices.none.text ? prices.none : prices[writes()];
}

/** What so much costs at those prices, rounded up: an amount to be held. Infinite counts cost the most there is. */
export function costAtMost(prices: HoldPrices, { input, output = 0, counted }: HeldCounts): NanoUsd {
  let pico = termOf(prices.output, output);
  if (input !== undefined) {
    pico += termOf(prices.text, input.text) + termOf(prices.image, input.image) + termOf(prices.audio, input.audio);
  }
  if (counted !== undefined) {
    for (const name of countedClasses) pico += termOf(prices.counted[name], counted[name] ?? 0);
  }
  return Math.min(Math.ceil(pico / picoPerNano), Number.MAX_SAFE_INTEGER);
}

const picoPerNano = 1_000;

type ByWrites = Readonly<Record<CacheWrites, HoldPrices>>;

interface Known {
  readonly above: number;
  readonly plain: ByWrites;
  readonly long: ByWrites;
}

export const noWrites = (): CacheWrites => "none";

/** By version object: a new config snapshot brings new ones. */
const cache = new WeakMap<PriceVersion, Known>();

function isAskedFor({ tier, geo, speed }: PriceVariant): boolean {
  return tier === undefined && geo === undefined && speed === undefined;
}

function withLongContext(table: PriceTable): readonly ClassPrices[] {
  return table.longContext === undefined ? [table] : [table, { ...table, ...table.longContext.prices }];
}

function pricesOf(tables: readonly ClassPrices[]): ByWrites {
  const most = (...names: readonly (keyof ClassPrices)[]): PicoUsd =>
    Math.max(0, ...tables.flatMap((table) => names.map((name) => table[name] ?? 0)));
  const others = {
    output: most(...outputClasses),
    counted: Object.fromEntries(countedClasses.map((name) => [name, most(name)])) as Record<CountedClass, PicoUsd>,
    request: Math.ceil(most("chargedRequests") / picoPerNano),
  };
  const by = (...asked: readonly (keyof ClassPrices)[]): HoldPrices => {
    const text = most("inputUncached", "cacheRead", ...asked);
    return {
      text,
      image: Math.max(text, most("imageInput")),
      audio: Math.max(text, most("audioInput", "cacheReadAudio")),
      ...others,
    };
  };
  return { none: by(), short: by("cacheWrite5m"), long: by("cacheWrite5m", "cacheWrite1h") };
}

/** What costs nothing costs nothing, however many there are. */
function termOf(price: PicoUsd, count: number): number {
  return price === 0 ? 0 : price * count;
}
