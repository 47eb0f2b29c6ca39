import {
  longContextRows,
  type ModelTypeName,
  type PriceConfig,
  type PricedBy,
  type PriceMember,
  type UsageUnit,
  usageTable,
} from "@sluice/contract";
import { t } from "../../language/areas/catalog.ts";
import { t as priceText } from "../../language/areas/prices.ts";
import { locale } from "../../language/chosen.ts";

export type ModelType = ModelTypeName;
export { modelTypes } from "@sluice/contract";

export const typeWords: Readonly<Record<ModelType, string>> = {
  chat: t("catalog.type.chat"),
  completion: t("catalog.type.completion"),
  image: t("catalog.type.image"),
  video: t("catalog.type.video"),
  embedding: t("catalog.type.embedding"),
  rerank: t("catalog.type.rerank"),
  moderation: t("catalog.type.moderation"),
  decision: t("catalog.type.decision"),
  transcription: t("catalog.type.transcription"),
  speech: t("catalog.type.speech"),
};

export function isModelType(name: string): name is ModelType {
  return Object.hasOwn(typeWords, name);
}

/** A price of input or output as vendors write it: at least two decimals, and more if needed. */
function formatPrice(usd: number): string {
  return price.format(usd);
}

const price = new Intl.NumberFormat(locale, {
  style: "currency",
  currencyDisplay: "narrowSymbol",
  currency: "USD",
  minimumFractionDigits: 2,
  maximumFractionDigits: 9,
});

export interface PriceWords {
  /** "$2.50 in · $10.00 out" */
  readonly amount: string;
  /** "per million tokens" */
  readonly unit: string | null;
}

/** The most important prices in one line; null: the model has no price, so its calls cost 0. */
export function priceWords(price: PriceConfig | null): PriceWords | null {
  if (isUnpriced(price) || price === null) return null;
  if (amountsOf(price).every((usd) => usd === 0)) return { amount: t("catalog.price.free"), unit: null };
  if (price.image !== undefined) return { amount: formatPrice(price.image), unit: unitWords("image") };
  const seconds = [price.video, ...videoVariants(price).map((variant) => variant.video)].filter(isNumber);
  if (seconds.length > 0) return { amount: span(seconds), unit: unitWords("video") };
  return countedWords(price) ?? tokenWords(price);
}

/** The service tier is only in the response, so the short price shows the standard one. */
function videoVariants({ variants = [] }: PriceConfig): NonNullable<PriceConfig["variants"]> {
  return variants.filter(({ tier, geo, speed }) => tier === undefined && geo === undefined && speed === undefined);
}

/** For usage that is mostly not charged by tokens: speech, rerank, transcription, requests. */
function countedWords(price: PriceConfig): PriceWords | null {
  const name = modelCounted.find((each) => price[each] !== undefined);
  const usd = name === undefined ? undefined : price[name];
  if (name === undefined || usd === undefined || hasTokenPrice(price)) return null;
  return { amount: formatPrice(usd), unit: unitWords(name) };
}

const modelCounted = ["audio_second", "search_unit", "character", "request"] as const;

function hasTokenPrice({ input = 0, output = 0 }: PriceConfig): boolean {
  return input > 0 || output > 0;
}

function tokenWords(price: PriceConfig): PriceWords {
  const outputs = [price.output, ...videoVariants(price).map((variant) => variant.output)].filter(isNumber);
  const output = price.output === undefined && price.image_output !== undefined ? [price.image_output] : outputs;
  const parts = [
    price.input === undefined ? null : t("catalog.price.in", { input: formatPrice(price.input) }),
    output.length === 0 ? null : t("catalog.price.out", { output: span(output) }),
  ].filter((part) => part !== null);
  if (parts.length > 0) return { amount: parts.join(" · "), unit: perMillion };
  return { amount: span(amountsOf(price)), unit: perMillion };
}

const perMillion = priceText("prices.units.token", { by: "million" });

/** "$2.50 in · $10.00 out per million tokens" */
export function listPriceText(price: PriceConfig): string {
  const words = priceWords(price);
  return words === null ? "" : [words.amount, words.unit].filter((part) => part !== null).join(" ");
}

export function isUnpriced(price: PriceConfig | null): boolean {
  return price === null || amountsOf(price).length === 0;
}

/** The sort value: input plus output, or the only price. */
export function priceRank(price: PriceConfig | null): number | null {
  if (isUnpriced(price) || price === null) return null;
  return price.image ?? price.video ?? (price.input ?? 0) + (price.output ?? 0);
}

/** Without the prices of long contexts and tools, which only come in addition to these. */
function amountsOf({
  variants = [],
  long_context: _,
  web_search: __,
  file_search: ___,
  code_session: ____,
  ...plain
}: PriceConfig): number[] {
  return [...Object.values(plain), ...variants.flatMap((variant) => [variant.video, variant.output])].filter(isNumber);
}

function span(amounts: readonly number[]): string {
  const least = Math.min(...amounts);
  const most = Math.max(...amounts);
  return least === most
    ? formatPrice(least)
    : t("catalog.price.span", { least: formatPrice(least), most: formatPrice(most) });
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

/** The classes that have a price, by the members that they are priced by, in the order of the form. */
const priceClasses: readonly PriceClass[] = usageTable.flatMap(({ name, price, by, unit }) =>
  price === null ? [] : [{ name: price, label: priceText(`prices.usage.${name}`), by, unit }],
);

const classOf: ReadonlyMap<string, PriceClass> = new Map(priceClasses.map((each) => [each.name, each]));

interface PriceClass {
  readonly name: PriceMember;
  readonly label: string;
  readonly by: PricedBy;
  readonly unit: UsageUnit;
}

/** The label of a usage class; an unknown class keeps its name. */
export function classLabel(name: string): string {
  return classOf.get(name)?.label ?? name;
}

/** Names of usage columns for display: "Cache write, 5 min · Audio input". */
export function columnLabels(columns: readonly string[]): string {
  const labels = columns.map((column) => {
    const row = usageTable.find((each) => each.column === column);
    return row === undefined ? column : priceText(`prices.usage.${row.name}`);
  });
  return labels.join(" · ");
}

const howMany: Readonly<Record<PricedBy, number>> = { one: 1, thousand: 1e3, million: 1e6 };

/** "$2.50 per million tokens", "$0.04 per image", "$0.10 per second", from the price of a single unit. */
export function unitPriceWords(name: string, unitUsd: number): string {
  const by = classOf.get(name)?.by ?? "million";
  // Restores the entered price: a millionth of it cannot be represented exactly as a double.
  return typedPriceWords(name, by === "one" ? unitUsd : Number((unitUsd * howMany[by]).toPrecision(12)));
}

export interface PriceItem {
  /** "Cached input" */
  readonly label: string;
  /** "$0.25 per million" */
  readonly words: string;
}

/** Every figure of a price, in the order of the form. */
export function priceItems(price: PriceConfig | null): readonly PriceItem[] {
  if (price === null) return [];
  const plain = priceClasses.flatMap(({ name, label }) => {
    const usd = price[name];
    return usd === undefined ? [] : [{ label, words: typedPriceWords(name, usd) }];
  });
  const variants = (price.variants ?? []).flatMap((variant) => {
    const what = variantLabel(variant);
    const { multiplier } = variant;
    const own = priceClasses.flatMap(({ name }) => {
      const usd = variant[name];
      return usd === undefined ? [] : [{ label: what, words: typedPriceWords(name, usd) }];
    });
    return multiplier === undefined ? own : [...own, { label: what, words: t("catalog.price.times", { multiplier }) }];
  });
  return [...plain, ...longContextItems(price.long_context), ...variants];
}

function longContextItems(price: PriceConfig["long_context"]): readonly PriceItem[] {
  if (price === undefined) return [];
  const { above } = price;
  return longContextRows.flatMap(({ price: name }) => {
    const usd = price[name];
    const label = t("catalog.price.longContext", { name: classLabel(name), above });
    return usd === undefined ? [] : [{ label, words: typedPriceWords(name, usd) }];
  });
}

function typedPriceWords(name: string, usd: number): string {
  return t("catalog.price.with", { price: formatPrice(usd), unit: unitWords(name) });
}

/** The unit of a class's price: "per image", "per second", "per million tokens". */
function unitWords(name: string): string {
  const { by = "million", unit = "token" } = classOf.get(name) ?? {};
  return priceText(`prices.units.${unit}`, { by });
}

/** Answers are served by tier, region and speed; videos have a resolution and sound. */
function variantLabel({ resolution, audio, tier, geo, speed }: NonNullable<PriceConfig["variants"]>[number]): string {
  const served = [tier, geo, speed].filter((word) => word !== undefined);
  if (served.length > 0 && resolution === undefined && audio === undefined) return served.join(" · ");
  const sound = audio === undefined ? "plain" : audio ? "sound" : "silent";
  return resolution === undefined
    ? t(`catalog.price.variant.${sound}`)
    : t(`catalog.price.variant.at.${sound}`, { resolution });
}
