import type { PriceConfig } from "@sluice/contract/config-file";
import { type PricedBy, usageTable } from "@sluice/contract/words";
import { type PicoUsd, usdPerMillionToPico, usdPerThousandToPico, usdPerUnitToPico } from "./money.ts";
import type { ClassPrices, LongContextPrices, PriceVariant, PriceVersion } from "./price.ts";

/** What a price says, without whose it is and since when. */
export type Prices = Pick<PriceVersion, "table" | "variants">;

/** A price as people write it, as whole pico-USD a unit. Prices of videos of one kind stand beside the table. */
export function pricesOf(price: PriceConfig): Prices {
  const variants = price.variants?.map(
    ({ resolution, audio, video, output }): PriceVariant => ({
      resolution: resolution ?? null,
      audio: audio ?? null,
      table: {
        ...(video === undefined ? {} : { videoSeconds: usdPerUnitToPico(video) }),
        ...(output === undefined ? {} : { output: usdPerMillionToPico(output) }),
      },
    }),
  );
  const { long_context } = price;
  const table =
    long_context === undefined ? tableOf(price) : { ...tableOf(price), longContext: longContextOf(long_context) };
  return { table, ...(variants === undefined ? {} : { variants }) };
}

/**
 * The way back: a price that gives the same pico-USD again, to the last one. What is only there because a class costs
 * what the plain ones of its side cost is left out, as whoever wrote the price left it out.
 */
export function priceConfigOf({ table, variants }: Prices): PriceConfig {
  const { inputUncached: input, output } = table;
  const perMillion = (pico: PicoUsd) => usdOf(pico, scales.million.scale, scales.million.toPico);
  const perUnit = (pico: PicoUsd) => usdOf(pico, scales.one.scale, scales.one.toPico);
  /** A class that was stored without a price where its side has one cost nothing, and says so. */
  const beside = (pico: PicoUsd | undefined, plain: PicoUsd | undefined) =>
    pico === plain ? undefined : perMillion(pico ?? 0);
  const price: { readonly [Name in keyof PriceConfig]-?: PriceConfig[Name] | undefined } = {
    input: input === undefined ? undefined : perMillion(input),
    output: output === undefined ? undefined : perMillion(output),
    cache_read: beside(table.cacheRead, input),
    cache_write_5m: beside(table.cacheWrite5m, input),
    cache_write_1h: beside(table.cacheWrite1h, table.cacheWrite5m),
    audio_input: beside(table.audioInput, input),
    audio_output: beside(table.audioOutput, output),
    image_input: beside(table.imageInput, input),
    image_output: beside(table.imageOutput, output),
    ...countedConfig(table),
    long_context: table.longContext === undefined ? undefined : longContextConfig(table.longContext, perMillion),
    variants: variants?.map((variant) => ({
      ...(variant.resolution === null ? {} : { resolution: variant.resolution }),
      ...(variant.audio === null ? {} : { audio: variant.audio }),
      ...(variant.table.videoSeconds === undefined ? {} : { video: perUnit(variant.table.videoSeconds) }),
      ...(variant.table.output === undefined ? {} : { output: perMillion(variant.table.output) }),
    })),
  };
  return Object.fromEntries(Object.entries(price).filter(([, value]) => value !== undefined));
}

/**
 * USD as vendors quote it, to pico-USD a unit; classes always in the same order, so that equal prices are equal text.
 * A class of tokens that has no price of its own costs what the plain ones of its side cost: a vendor that counts
 * pictures or cached tokens apart does not give them away.
 */
function tableOf(price: PriceConfig): ClassPrices {
  const perMillion = (usd: number | undefined) => (usd === undefined ? undefined : usdPerMillionToPico(usd));
  const table: { readonly [Class in keyof ClassPrices]-?: number | undefined } = {
    inputUncached: perMillion(price.input),
    cacheRead: perMillion(price.cache_read ?? price.input),
    cacheWrite5m: perMillion(price.cache_write_5m ?? price.input),
    cacheWrite1h: perMillion(price.cache_write_1h ?? price.cache_write_5m ?? price.input),
    output: perMillion(price.output),
    audioInput: perMillion(price.audio_input ?? price.input),
    audioOutput: perMillion(price.audio_output ?? price.output),
    imageInput: perMillion(price.image_input ?? price.input),
    imageOutput: perMillion(price.image_output ?? price.output),
    ...countedTable(price),
  };
  return Object.fromEntries(Object.entries(table).filter(([, pico]) => pico !== undefined));
}

type CountedRow = Extract<(typeof usageTable)[number], { readonly side: null }>;
const countedRows = usageTable.filter((row): row is CountedRow => row.side === null);

/** What a price is written for, as pico-USD a unit: to them, and how many of them a USD is then. */
const scales: Readonly<Record<PricedBy, { readonly toPico: (usd: number) => PicoUsd; readonly scale: number }>> = {
  million: { toPico: usdPerMillionToPico, scale: 1_000_000 },
  thousand: { toPico: usdPerThousandToPico, scale: 1_000_000_000 },
  one: { toPico: usdPerUnitToPico, scale: 1_000_000_000_000 },
};

/** What is charged by something other than tokens costs what is written, or nothing. */
function countedTable(price: PriceConfig): Record<CountedRow["name"], PicoUsd | undefined> {
  const entries = countedRows.map(({ name, price: member, by }) => {
    const usd = price[member];
    return [name, usd === undefined ? undefined : scales[by].toPico(usd)];
  });
  return Object.fromEntries(entries);
}

function countedConfig(table: ClassPrices): Record<CountedRow["price"], number | undefined> {
  const entries = countedRows.map(({ name, price, by }) => {
    const pico = table[name];
    return [price, pico === undefined ? undefined : usdOf(pico, scales[by].scale, scales[by].toPico)];
  });
  return Object.fromEntries(entries);
}

type LongContextConfig = NonNullable<PriceConfig["long_context"]>;

/** A class that is left out costs what it costs in a shorter context. */
const longContextClasses = [
  ["inputUncached", "input"],
  ["cacheRead", "cache_read"],
  ["cacheWrite5m", "cache_write_5m"],
  ["cacheWrite1h", "cache_write_1h"],
  ["output", "output"],
] as const satisfies readonly (readonly [keyof ClassPrices, keyof LongContextConfig])[];

function longContextOf(price: LongContextConfig): LongContextPrices {
  const prices = longContextClasses.flatMap(([name, written]) => {
    const usd = price[written];
    return usd === undefined ? [] : [[name, usdPerMillionToPico(usd)]];
  });
  return { above: price.above, prices: Object.fromEntries(prices) };
}

function longContextConfig({ above, prices }: LongContextPrices, usd: (pico: PicoUsd) => number): LongContextConfig {
  const written = longContextClasses.flatMap(([name, word]) => {
    const pico = prices[name];
    return pico === undefined ? [] : [[word, usd(pico)]];
  });
  return { above, ...Object.fromEntries(written) };
}

/** Steps to the neighbours of a quotient: near 9,000 USD a unit the nearest number may round to the next pico-USD. */
const neighboursMax = 4;

function usdOf(pico: PicoUsd, scale: number, back: (usd: number) => PicoUsd): number {
  const usd = pico / scale;
  for (let step = 0; step <= neighboursMax; step++) {
    for (const near of [usd * (1 + step * Number.EPSILON), usd * (1 - step * Number.EPSILON)]) {
      if (back(near) === pico) return near;
    }
  }
  return usd;
}
