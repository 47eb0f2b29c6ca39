import { type NanoUsd, type Provider, usdToNano } from "#core/index.ts";
import { isObject, objectOf } from "#protocols/index.ts";

/** What an account charges for the objects that it stores. null: unknown. */
export interface ObjectPrices {
  /** A container of this memory, by the minute. */
  containerMinute(memory: string): NanoUsd | null;
  /** A call that creates a vector store or adds files to it. */
  readonly vectorStore: NanoUsd | null;
  /** A search in a vector store. */
  readonly search: NanoUsd | null;
  /** A gigabyte in vector stores for a day, beyond the first of the account. */
  readonly storageDay: NanoUsd | null;
}

/** The memory of containers, the default first. */
export const containerMemories = ["1g", "4g", "16g", "64g"] as const;

/** USD. Source: OpenAI's prices of 2026-11: containers by 20 minutes, searches by 1,000. */
const openAiPrices: Readonly<Record<string, number>> = {
  ...{ container_1g: 0.03 / 20, container_4g: 0.12 / 20, container_16g: 0.48 / 20, container_64g: 1.92 / 20 },
  ...{ vector_store_search: 0.0025, vector_store_gb_day: 0.1 },
};

const names: readonly string[] = [
  ...containerMemories.map((memory) => `container_${memory}`),
  "vector_store",
  "vector_store_search",
  "vector_store_gb_day",
];

export function objectPricesOf({ kind, settings }: Provider): ObjectPrices {
  const all: Readonly<Record<string, unknown>> =
    kind === "openai" ? { ...openAiPrices, ...objectOf(settings["object_prices"]) } : {};
  const of = (name: string): NanoUsd | null => {
    const usd = names.includes(name) ? all[name] : undefined;
    return typeof usd === "number" ? usdToNano(usd) : null;
  };
  return {
    containerMinute: (memory) => of(`container_${memory}`),
    vectorStore: of("vector_store"),
    search: of("vector_store_search"),
    storageDay: of("vector_store_gb_day"),
  };
}

/** A problem with `settings.object_prices`; null if there is none. */
export function objectPricesProblem({ settings }: Provider): string | null {
  const value = settings["object_prices"];
  if (value === undefined || value === null || value === "") return null;
  const at = "settings.object_prices";
  if (!isObject(value)) return `${at} must be an object`;
  for (const [name, usd] of Object.entries(value)) {
    if (!names.includes(name)) return `${at} has no member ${name.slice(0, 64)}; it has ${names.join(", ")}`;
    if (!(typeof usd === "number" && usd >= 0 && usd <= usdMax))
      return `${at}.${name} must be an amount in USD, from 0 to ${usdMax}`;
  }
  return null;
}

const usdMax = 1_000;
