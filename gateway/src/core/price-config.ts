import type { PriceConfig } from "@sluice/contract/config-file";
import { longContextRows, type PricedBy, usageTable } from "@sluice/contract/words";
import { type PicoUsd, usdPerMillionToPico, usdPerThousandToPico, usdPerUnitToPico } from "./money.ts";
import type { ClassPrices, LongContextPrices, PriceTable, PriceVariant, PriceVersion } from "./price.ts";

/** What a price says, without whose it is and since when. */
export type Prices = Pick<PriceVersion, "table" | "variants">;

/** A price as people write it, as whole pico-USD a unit. Prices of videos of one kind stand beside the table. */
export function pricesOf(price: PriceConfig): Prices {
  const variants = price.variants?.map(
    ({ resolution, audio, tier, geo, speed, multiplier, ...own }): PriceVariant => ({
      resolution: resolution ?? null,
      audio: audio ?? null,
      ...(tier === undefined ? {} : { tier }),
      ...(geo === undefined ? {} : { geo }),
      ...(speed === undefined ? {} : { speed }),
      ...(multiplier === undefined ? {} : { multiplier: Math.round(multiplier * 1_000) }),
      table: { ...otherPrices(price, own), ...countedTable(own) },
    }),
  );
  const { long_context } = price;
  const table =
    long_context === undefined
      ? tableOf(price)
      : { ...tableOf(price), longContext: longContextOf(price, long_context) };
  return { table, ...(variants === undefined ? {} : { variants }) };
}

/**
 * The way back: a price that gives the same pico-USD again, to the last one. What is only there because a class costs
 * what the plain ones of its side cost is left out, as whoever wrote the price left it out.
 */
export function priceConfigOf({ table, variants }: Prices): PriceConfig {
  const perMillion = (pico: PicoUsd) => usdOf(pico, scales.million.scale, scales.million.toPico);
  const others = [table.longContext?.prices ?? {}, ...(variants ?? []).map((each) => each.table)];
  const tokens = tokenConfig(table, others, perMillion);
  const price: { readonly [Name in keyof PriceConfig]-?: PriceConfig[Name] | undefined } = {
    ...tokens,
    ...countedConfig(table),
    long_context:
      table.longContext === undefined ? undefined : longContextConfig(tokens, table.longContext, perMillion),
    variants: variants?.map(({ multiplier, table: own, ...traits }) => ({
      ...withoutAbsent(traits),
      ...(multiplier === undefined ? {} : { multiplier: multiplier / 1_000 }),
      ...otherConfig(tokenRows, { written: tokens, other: own, usd: perMillion }),
      ...withoutAbsent(countedConfig(own)),
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
  const table: Partial<Record<keyof ClassPrices, PicoUsd>> = {};
  for (const { name, price: member, costsAs } of tokenRows) {
    const usd = price[member];
    const pico = usd === undefined ? plainPrice(table, costsAs) : usdPerMillionToPico(usd);
    if (pico !== undefined) table[name] = pico;
  }
  return { ...table, ...countedTable(price) };
}

type TokenRow = Extract<(typeof usageTable)[number], { readonly unit: "token"; readonly price: string }>;
const tokenRows = usageTable.filter((row): row is TokenRow => row.unit === "token" && row.price !== null);

/** What a class costs that has no price of its own. */
function plainPrice(table: ClassPrices, costsAs: TokenRow["costsAs"]): PicoUsd | undefined {
  return costsAs === null ? undefined : table[costsAs];
}

/** A class that was stored without a price where its side has one cost nothing, and says so. */
function tokenConfig(
  table: PriceTable,
  others: readonly ClassPrices[],
  perMillion: (pico: PicoUsd) => number,
): Record<TokenRow["price"], number | undefined> {
  const entries = tokenRows.map((row) => {
    const own = table[row.name];
    const isPlain = own === plainPrice(table, row.costsAs) && !others.some((other) => costsAsUsual(row, other));
    return [row.price, isPlain ? undefined : perMillion(own ?? 0)];
  });
  return Object.fromEntries(entries);
}

/** In a long context or a variant the plain ones of its side have a price, and it has none: it was written for the usual one. */
function costsAsUsual({ name, costsAs }: TokenRow, other: ClassPrices): boolean {
  return other[name] === undefined && plainPrice(other, costsAs) !== undefined;
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
function countedTable(price: PriceConfig): ClassPrices {
  const entries = countedRows.flatMap(({ name, price: member, by }) => {
    const usd = price[member];
    return usd === undefined ? [] : [[name, scales[by].toPico(usd)]];
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

/**
 * A class that is left out costs as usual: its own price of a shorter context, and where it has none what the plain ones of its side
 * cost, which is their price of a long context.
 */
function longContextOf(price: PriceConfig, long: LongContextConfig): LongContextPrices {
  return { above: long.above, prices: otherPrices(price, long) };
}

function otherPrices(price: PriceConfig, written: Readonly<Partial<Record<string, number>>>): ClassPrices {
  const prices: Partial<Record<keyof ClassPrices, PicoUsd>> = {};
  for (const { name, price: member, costsAs } of tokenRows) {
    const usd = written[member];
    const plain = price[member] === undefined ? plainPrice(prices, costsAs) : undefined;
    const pico = usd === undefined ? plain : usdPerMillionToPico(usd);
    if (pico !== undefined) prices[name] = pico;
  }
  return prices;
}

function longContextConfig(
  written: Readonly<Record<string, number | undefined>>,
  { above, prices }: LongContextPrices,
  usd: (pico: PicoUsd) => number,
): LongContextConfig {
  return { above, ...otherConfig(longContextRows, { written, other: prices, usd }) };
}

/**
 * What is written for classes that cost something else than usual; what was filled in is left out. `written`: what the usual price
 * says, since only a class that is not in that is filled in.
 */
function otherConfig(
  rows: readonly Pick<TokenRow, "name" | "price" | "costsAs">[],
  {
    written,
    other,
    usd,
  }: {
    readonly written: Readonly<Record<string, number | undefined>>;
    readonly other: ClassPrices;
    readonly usd: (pico: PicoUsd) => number;
  },
): Readonly<Record<string, number>> {
  const entries = rows.flatMap(({ name, price: word, costsAs }) => {
    const pico = other[name];
    const isFilledIn = written[word] === undefined && pico === plainPrice(other, costsAs);
    return pico === undefined || isFilledIn ? [] : [[word, usd(pico)]];
  });
  return Object.fromEntries(entries);
}

/** Members that hold something. */
function withoutAbsent(members: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null));
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
