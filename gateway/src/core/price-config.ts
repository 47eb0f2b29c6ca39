import type { PriceConfig } from "@sluice/contract/config-file";
import { longContextRows, usageTable } from "@sluice/contract/words";
import { type PicoUsd, picoToUsd, usdToPico } from "./money.ts";
import type { ClassPrices, PriceTable, PriceVariant, PriceVersion } from "./price.ts";

/** A price without its model and start. */
export type Prices = Pick<PriceVersion, "table" | "variants">;

type TokenRow = Extract<(typeof usageTable)[number], { readonly unit: "token"; readonly price: string }>;
const tokenRows = usageTable.filter((row): row is TokenRow => row.unit === "token" && row.price !== null);

type CountedRow = Extract<(typeof usageTable)[number], { readonly side: null }>;
const countedRows = usageTable.filter((row): row is CountedRow => row.side === null);

/** Converts a configured price to pico-USD per unit. */
export function pricesOf(price: PriceConfig): Prices {
  const { long_context: long } = price;
  const variants = price.variants?.map(
    ({ resolution, audio, tier, geo, speed, multiplier, ...own }): PriceVariant => ({
      resolution: resolution ?? null,
      audio: audio ?? null,
      ...(tier === undefined ? {} : { tier }),
      ...(geo === undefined ? {} : { geo }),
      ...(speed === undefined ? {} : { speed }),
      ...(multiplier === undefined ? {} : { multiplier: Math.round(multiplier * 1_000) }),
      table: { ...otherPrices(price, own), ...countedPrices(own) },
    }),
  );
  const longContext =
    long === undefined ? {} : { longContext: { above: long.above, prices: otherPrices(price, long) } };
  return { table: { ...tableOf(price), ...longContext }, ...(variants === undefined ? {} : { variants }) };
}

/** The inverse of `pricesOf`: gives exactly the same pico-USD again. Omits prices that `pricesOf` fills in. */
export function priceConfigOf({ table, variants }: Prices): PriceConfig {
  const { longContext } = table;
  const tokens = tokenConfig(table, [longContext?.prices ?? {}, ...(variants ?? []).map((each) => each.table)]);
  const price: { readonly [Name in keyof PriceConfig]-?: PriceConfig[Name] | undefined } = {
    ...tokens,
    ...countedConfig(table),
    long_context: longContext && {
      above: longContext.above,
      ...otherConfig(longContextRows, tokens, longContext.prices),
    },
    variants: variants?.map(({ multiplier, table: own, ...traits }) => ({
      ...withoutAbsent(traits),
      ...(multiplier === undefined ? {} : { multiplier: multiplier / 1_000 }),
      ...otherConfig(tokenRows, tokens, own),
      ...withoutAbsent(countedConfig(own)),
    })),
  };
  return withoutAbsent(price);
}

/**
 * Classes are always in the same order, so that equal prices are equal as text. A class of tokens without its own price costs the same
 * as the plain class of its side, because vendors do not give cached or image tokens away.
 */
function tableOf(price: PriceConfig): ClassPrices {
  const table: Partial<Record<keyof ClassPrices, PicoUsd>> = {};
  for (const { name, price: field, costsAs } of tokenRows) {
    const usd = price[field];
    const pico = usd === undefined ? plainPrice(table, costsAs) : usdToPico(usd, "million");
    if (pico !== undefined) table[name] = pico;
  }
  return { ...table, ...countedPrices(price) };
}

/** The price of a class without its own price. */
function plainPrice(table: ClassPrices, costsAs: TokenRow["costsAs"]): PicoUsd | undefined {
  return costsAs === null ? undefined : table[costsAs];
}

/** A class stored without a price, although its side has one, is free; that is written as 0. */
function tokenConfig(table: PriceTable, others: readonly ClassPrices[]): Record<TokenRow["price"], number | undefined> {
  const entries = tokenRows.map(({ name, price, costsAs }) => {
    const own = table[name];
    // A long context or variant without a price for this class uses the normal price, which must be written then.
    const isUsed = others.some((other) => other[name] === undefined && plainPrice(other, costsAs) !== undefined);
    const isFilledIn = own === plainPrice(table, costsAs) && !isUsed;
    return [price, isFilledIn ? undefined : picoToUsd(own ?? 0, "million")];
  });
  return Object.fromEntries(entries);
}

/** Prices of what is not counted in tokens. */
function countedPrices(price: PriceConfig): ClassPrices {
  const entries = countedRows.flatMap(({ name, price: field, by }) => {
    const usd = price[field];
    return usd === undefined ? [] : [[name, usdToPico(usd, by)]];
  });
  return Object.fromEntries(entries);
}

function countedConfig(table: ClassPrices): Record<CountedRow["price"], number | undefined> {
  const entries = countedRows.map(({ name, price, by }) => {
    const pico = table[name];
    return [price, pico === undefined ? undefined : picoToUsd(pico, by)];
  });
  return Object.fromEntries(entries);
}

/**
 * Prices of a long context or variant. A class that is missing keeps its normal price; without one it costs the same as the plain class
 * of its side.
 */
function otherPrices(price: PriceConfig, written: Readonly<Partial<Record<string, number>>>): ClassPrices {
  const prices: Partial<Record<keyof ClassPrices, PicoUsd>> = {};
  for (const { name, price: field, costsAs } of tokenRows) {
    const usd = written[field];
    const plain = price[field] === undefined ? plainPrice(prices, costsAs) : undefined;
    const pico = usd === undefined ? plain : usdToPico(usd, "million");
    if (pico !== undefined) prices[name] = pico;
  }
  return prices;
}

/** The inverse of `otherPrices`. `written`: the normal prices, since only classes without one are filled in. */
function otherConfig(
  rows: readonly Pick<TokenRow, "name" | "price" | "costsAs">[],
  written: Readonly<Record<string, number | undefined>>,
  other: ClassPrices,
): Readonly<Record<string, number>> {
  const entries = rows.flatMap(({ name, price, costsAs }) => {
    const pico = other[name];
    const isFilledIn = written[price] === undefined && pico === plainPrice(other, costsAs);
    return pico === undefined || isFilledIn ? [] : [[price, picoToUsd(pico, "million")]];
  });
  return Object.fromEntries(entries);
}

function withoutAbsent(fields: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null));
}
