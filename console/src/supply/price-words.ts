import type { ConsoleModel, PriceConfig } from "@sluice/contract";

export type ModelType = ConsoleModel["type"];
export const modelTypes = ["chat", "image", "video", "embedding"] as const satisfies readonly ModelType[];

export const typeWords: Readonly<Record<ModelType, string>> = {
  chat: "Chat",
  image: "Image",
  video: "Video",
  embedding: "Embedding",
};

/** A price of an input or an output, as vendors write it: at least cents, as many digits as it has. */
export function formatPrice(usd: number): string {
  return price.format(usd);
}

const price = new Intl.NumberFormat(undefined, {
  style: "currency",
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

/** The prices that matter most, in one line; null: unpriced, its calls cost 0. */
export function priceWords(price: PriceConfig | null): PriceWords | null {
  if (isUnpriced(price) || price === null) return null;
  if (amountsOf(price).every((usd) => usd === 0)) return { amount: "free", unit: null };
  if (price.image !== undefined) return { amount: formatPrice(price.image), unit: "per image" };
  const seconds = [price.video, ...(price.variants ?? []).map((variant) => variant.video)].filter(isNumber);
  if (seconds.length > 0) return { amount: span(seconds), unit: "per second" };
  return tokenWords(price);
}

function tokenWords(price: PriceConfig): PriceWords {
  const outputs = [price.output, ...(price.variants ?? []).map((variant) => variant.output)].filter(isNumber);
  const output = price.output === undefined && price.image_output !== undefined ? [price.image_output] : outputs;
  const parts = [
    price.input === undefined ? null : `${formatPrice(price.input)} in`,
    output.length === 0 ? null : `${span(output)} out`,
  ].filter((part) => part !== null);
  if (parts.length > 0) return { amount: parts.join(" · "), unit: perMillion };
  return { amount: span(amountsOf(price)), unit: perMillion };
}

const perMillion = "per million tokens";

export function isUnpriced(price: PriceConfig | null): boolean {
  return price === null || amountsOf(price).length === 0;
}

/** What it is sorted by: input and output together, or the one figure there is. */
export function priceRank(price: PriceConfig | null): number | null {
  if (isUnpriced(price) || price === null) return null;
  return price.image ?? price.video ?? (price.input ?? 0) + (price.output ?? 0);
}

/** Beside the prices of tools, which go with another price. */
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
  return least === most ? formatPrice(least) : `${formatPrice(least)} to ${formatPrice(most)}`;
}

function isNumber(value: unknown): value is number {
  return typeof value === "number";
}

const classWords: Readonly<Record<Exclude<keyof PriceConfig, "variants" | "long_context">, string>> = {
  input: "Input",
  output: "Output",
  cache_read: "Cached input",
  cache_write_5m: "Cache write, 5 minutes",
  cache_write_1h: "Cache write, 1 hour",
  audio_input: "Audio input",
  audio_output: "Audio output",
  image_input: "Image input",
  image_output: "Image output",
  image: "Images",
  video: "Video seconds",
  web_search: "Web searches",
  file_search: "File searches",
  code_session: "Code sessions",
};

/** A class of usage to a reader; one that is not known keeps its name. */
export function classLabel(name: string): string {
  return Object.hasOwn(classWords, name) ? classWords[name as keyof typeof classWords] : name;
}

/** What an upstream does by tools of its own is quoted by the thousand. */
const byThousand: ReadonlySet<string> = new Set(["web_search", "file_search", "code_session"]);

/** "$2.50 per million", "$0.04 each", "$0.10 per second", from the price of a single unit. */
export function unitPriceWords(name: string, unitUsd: number): string {
  if (name === "image") return `${formatPrice(unitUsd)} each`;
  if (name === "video") return `${formatPrice(unitUsd)} per second`;
  if (byThousand.has(name)) return `${formatPrice(Number((unitUsd * 1e3).toPrecision(12)))} per thousand`;
  // Back to the figure that was typed: a millionth of it has more digits than a double keeps.
  return `${formatPrice(Number((unitUsd * 1e6).toPrecision(12)))} per million`;
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
  const plain = priceClasses.flatMap((name) => {
    const usd = price[name];
    return usd === undefined ? [] : [{ label: classWords[name], words: typedPriceWords(name, usd) }];
  });
  const variants = (price.variants ?? []).flatMap((variant) => {
    const what = variantLabel(variant);
    return [
      ...(variant.video === undefined ? [] : [{ label: what, words: `${formatPrice(variant.video)} per second` }]),
      ...(variant.output === undefined ? [] : [{ label: what, words: `${formatPrice(variant.output)} per million` }]),
    ];
  });
  return [...plain, ...longContextItems(price.long_context), ...variants];
}

function longContextItems(price: PriceConfig["long_context"]): readonly PriceItem[] {
  if (price === undefined) return [];
  const above = new Intl.NumberFormat().format(price.above);
  return longContextClasses.flatMap((name) => {
    const usd = price[name];
    const label = `${classWords[name]}, above ${above} input tokens`;
    return usd === undefined ? [] : [{ label, words: typedPriceWords(name, usd) }];
  });
}

const longContextClasses = ["input", "output", "cache_read", "cache_write_5m", "cache_write_1h"] as const;

const priceClasses = [
  "input",
  "output",
  "cache_read",
  "cache_write_5m",
  "cache_write_1h",
  "audio_input",
  "audio_output",
  "image_input",
  "image_output",
  "image",
  "video",
  "web_search",
  "file_search",
  "code_session",
] as const;

function typedPriceWords(name: (typeof priceClasses)[number], usd: number): string {
  if (name === "image") return `${formatPrice(usd)} each`;
  return `${formatPrice(usd)} per ${name === "video" ? "second" : byThousand.has(name) ? "thousand" : "million"}`;
}

function variantLabel({ resolution, audio }: NonNullable<PriceConfig["variants"]>[number]): string {
  const sound = audio === undefined ? null : audio ? "with sound" : "without sound";
  return ["Video", resolution ?? null, sound].filter((part) => part !== null).join(" ");
}
