import { oncePerObject } from "./bounded-map.ts";
import type { NanoUsd, PicoUsd } from "./money.ts";
import type { ClassPrices, PriceTable, PriceVariant, PriceVersion } from "./price.ts";
import { type CountedClass, countedClasses, outputClasses } from "./usage.ts";

/** Requested cache lifetime of the prompt. Cache writes are charged. */
export type CacheWrites = "none" | "short" | "long";

/** Input tokens by modality. */
export interface InputTokens {
  readonly text: number;
  readonly image: number;
  readonly audio: number;
}

/** Prices for reserving money, in pico-USD. Output and counted classes have the highest price that may apply. */
export interface HoldPrices extends InputTokens {
  readonly output: PicoUsd;
  readonly counted: Readonly<Record<CountedClass, PicoUsd>>;
  /** Fixed price of a request, in nano-USD. */
  readonly request: NanoUsd;
}

/** Counts of what is not charged in tokens; 0 if absent. */
export type CountedUse = { readonly [Class in CountedClass]?: number };

export interface HeldCounts {
  readonly input?: InputTokens | undefined;
  readonly output?: number | undefined;
  readonly counted?: CountedUse | undefined;
}

/**
 * The prices to reserve money at for a call of about that many input tokens. Uses the highest price of the variants, except variants of
 * a tier, region or speed, which are known only from the answer.
 */
export function holdPrices(price: PriceVersion, inputTokens: number, writes: () => CacheWrites): HoldPrices {
  const { above, plain, long } = allPrices(price);
  const prices = inputTokens > above ? long : plain;
  // Most vendors charge nothing for cache writes; then the request is not inspected.
  return prices.long.text === prices.none.text ? prices.none : prices[writes()];
}

/** The cost of the counts, rounded up and capped at the largest safe integer. */
export function costAtMost(prices: HoldPrices, { input, output = 0, counted }: HeldCounts): NanoUsd {
  let pico = termOf(prices.output, output);
  if (input !== undefined) {
    pico += termOf(prices.text, input.text) + termOf(prices.image, input.image) + termOf(prices.audio, input.audio);
  }
  if (counted !== undefined) {
    for (const name of countedClasses) pico += termOf(prices.counted[name], counted[name] ?? 0);
  }
  return toNano(pico);
}

/** The same for input alone. */
export function inputCostAtMost(prices: HoldPrices, text: number, image: number, audio: number): NanoUsd {
  return toNano(termOf(prices.text, text) + termOf(prices.image, image) + termOf(prices.audio, audio));
}

/** The same for output alone. */
export function outputCostAtMost(prices: HoldPrices, output: number): NanoUsd {
  return toNano(termOf(prices.output, output));
}

function toNano(pico: number): NanoUsd {
  return Math.min(Math.ceil(pico / picoPerNano), Number.MAX_SAFE_INTEGER);
}

const picoPerNano = 1_000;

type ByWrites = Readonly<Record<CacheWrites, HoldPrices>>;

export const noWrites = (): CacheWrites => "none";

const allPrices = oncePerObject((price: PriceVersion) => {
  const variants = (price.variants ?? []).filter(isKnownBefore).map(({ table }) => ({ ...price.table, ...table }));
  const tables = [price.table, ...variants];
  return {
    above: Math.min(...tables.map(({ longContext }) => longContext?.above ?? Number.POSITIVE_INFINITY)),
    plain: pricesOf(tables),
    long: pricesOf(tables.flatMap(withLongContext)),
  };
});

/** Whether the variant is known from the request. */
function isKnownBefore({ tier, geo, speed }: PriceVariant): boolean {
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
  const by = (...writeClasses: readonly (keyof ClassPrices)[]): HoldPrices => {
    const text = most("inputUncached", "cacheRead", ...writeClasses);
    return {
      text,
      image: Math.max(text, most("imageInput")),
      audio: Math.max(text, most("audioInput", "cacheReadAudio")),
      ...others,
    };
  };
  return { none: by(), short: by("cacheWrite5m"), long: by("cacheWrite5m", "cacheWrite1h") };
}

/** 0 for a free class, even if the count is infinite. */
function termOf(price: PicoUsd, count: number): number {
  return price === 0 ? 0 : price * count;
}
