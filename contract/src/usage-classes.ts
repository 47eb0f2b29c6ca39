import type { z } from "zod";
import type { ModelTypeName } from "./model-endpoints.ts";

/** Unit that a class counts. */
export type UsageUnit = "token" | "image" | "second" | "call" | "unit" | "character";

/** Number of units that a price is for: vendors quote tokens per million, searches per thousand. */
export type PricedBy = "one" | "thousand" | "million";

export interface UsageClassRow {
  /** Name in the gateway's code. */
  readonly name: string;
  /** Name in the ledger, its rollups, exports and the admin API. */
  readonly column: string;
  /** Field of a price that applies to it. null: it is part of another class. */
  readonly price: string | null;
  readonly by: PricedBy;
  readonly unit: UsageUnit;
  /** For tokens: whether they are input or output. */
  readonly side: "input" | "output" | null;
  /** For tokens: the class with the price to use if this one has none. null: it costs nothing. That class comes earlier in the table. */
  readonly costsAs?: string | null;
  /** Whether a long-context price can have a separate figure for it. */
  readonly longContext?: boolean;
  /** Types of the models that are usually priced by it. */
  readonly types: readonly ModelTypeName[];
  /** Description of the field in the config file. */
  readonly help?: string;
}

/**
 * All usage classes. Ledger, journal, prices, reports, export and console are generated from this table. Classes do not overlap,
 * except `reasoning` and `unexplained`, which are part of `output`. Journals store counts in this order, so add a new class at the
 * end, with a migration for its column.
 */
export const usageTable = [
  token("inputUncached", "input_uncached", "input", "input", { costsAs: null, longContext: true }, [
    "chat",
    "completion",
    "image",
    "embedding",
    "rerank",
    "moderation",
    "decision",
    "transcription",
    "speech",
  ]),
  token("cacheRead", "cache_read", "cache_read", "input", { costsAs: "inputUncached", longContext: true }, [
    "chat",
    "decision",
  ]),
  token("cacheWrite5m", "cache_write_5m", "cache_write_5m", "input", { costsAs: "inputUncached", longContext: true }, [
    "chat",
    "decision",
  ]),
  token("cacheWrite1h", "cache_write_1h", "cache_write_1h", "input", { costsAs: "cacheWrite5m", longContext: true }, [
    "chat",
  ]),
  token("output", "output", "output", "output", { costsAs: null, longContext: true }, [
    "chat",
    "completion",
    "image",
    "video",
    "transcription",
  ]),
  token("reasoning", "reasoning", null, "output", { costsAs: null, longContext: false }, []),
  token("audioInput", "audio_input", "audio_input", "input", { costsAs: "inputUncached", longContext: false }, [
    "chat",
    "transcription",
  ]),
  token("audioOutput", "audio_output", "audio_output", "output", { costsAs: "output", longContext: false }, [
    "chat",
    "speech",
  ]),
  token("imageInput", "image_input", "image_input", "input", { costsAs: "inputUncached", longContext: false }, [
    "image",
  ]),
  token("imageOutput", "image_output", "image_output", "output", { costsAs: "output", longContext: false }, ["image"]),
  counted("images", "images", "image", ["image", "one"], "USD per image.", ["image"]),
  counted("videoSeconds", "video_seconds", "video", ["second", "one"], "USD per second of video.", ["video"]),
  counted(
    "webSearches",
    "web_searches",
    "web_search",
    ["call", "thousand"],
    "USD per thousand web searches that the upstream makes for calls.",
    ["chat"],
  ),
  counted("fileSearches", "file_searches", "file_search", ["call", "thousand"], "USD per thousand file searches.", [
    "chat",
  ]),
  counted(
    "codeSessions",
    "code_sessions",
    "code_session",
    ["call", "thousand"],
    "USD per thousand code containers that the upstream starts.",
    ["chat"],
  ),
  counted("audioSeconds", "audio_seconds", "audio_second", ["second", "one"], "USD per second of transcribed audio.", [
    "transcription",
  ]),
  counted(
    "searchUnits",
    "search_units",
    "search_unit",
    ["unit", "thousand"],
    "USD per thousand rerank search units (Cohere: a query with up to 100 documents).",
    ["rerank"],
  ),
  counted(
    "characters",
    "characters",
    "character",
    ["character", "million"],
    "USD per million characters of speech input.",
    ["speech"],
  ),
  counted(
    "chargedRequests",
    "charged_requests",
    "request",
    ["call", "thousand"],
    "USD per thousand requests, in addition to their other usage.",
    ["moderation"],
  ),
  token(
    "cacheReadAudio",
    "cache_read_audio",
    "cache_read_audio",
    "input",
    { costsAs: "audioInput", longContext: false },
    [],
  ),
  token(
    "separateReasoning",
    "separate_reasoning",
    "separate_reasoning",
    "output",
    { costsAs: "output", longContext: false },
    [],
  ),
  counted(
    "mapSearches",
    "map_searches",
    "map_search",
    ["call", "thousand"],
    "USD per thousand responses grounded with maps.",
    [],
  ),
  // Difference between the upstream's total and the sum of its parts. If the total is larger, it is also counted as output.
  token("unexplained", "unexplained", null, "output", { costsAs: null, longContext: false }, []),
] as const satisfies readonly UsageClassRow[];

type UsageRow = (typeof usageTable)[number];

/** Class names in code. */
export type UsageClassName = UsageRow["name"];
export type UsageColumnName = UsageRow["column"];
/** Fields of a price with a single figure. */
export type PriceMember = NonNullable<UsageRow["price"]>;

/** The fields of a price, one per class that has one. `cost`: the schema of a figure in USD. */
export function priceFields<Cost extends z.ZodNumber>(
  cost: Cost,
): { readonly [Member in PriceMember]: z.ZodOptional<Cost> } {
  const rows: readonly UsageClassRow[] = usageTable;
  const fields = rows.flatMap(({ price, help }) => {
    if (price === null) return [];
    return [[price, help === undefined ? cost.optional() : cost.optional().describe(help)]];
  });
  return Object.fromEntries(fields);
}

/** The fields of a long-context price, one per class that can have a separate figure. */
export function longContextFields<Cost extends z.ZodNumber>(
  cost: Cost,
): { readonly [Member in LongContextMember]: z.ZodOptional<Cost> } {
  return Object.fromEntries(longContextRows.map(({ price }) => [price, cost.optional()])) as {
    readonly [Member in LongContextMember]: z.ZodOptional<Cost>;
  };
}

type LongContextRow = Extract<UsageRow, { readonly longContext: true }>;
export type LongContextMember = LongContextRow["price"];

/** Classes that can have a separate long-context price. */
export const longContextRows: readonly LongContextRow[] = usageTable.filter(
  (row): row is LongContextRow => "longContext" in row && row.longContext,
);

/** How a class of tokens is priced without a figure for it. */
interface TokenPrice {
  readonly costsAs: string | null;
  readonly longContext: boolean;
}

function token<
  const Name extends string,
  const Column extends string,
  const Price extends string | null,
  const Side extends "input" | "output",
  const More extends TokenPrice,
>(name: Name, column: Column, price: Price, side: Side, more: More, types: readonly ModelTypeName[]) {
  return { name, column, price, by: "million", unit: "token", side, ...more, types } as const;
}

function counted<
  const Name extends string,
  const Column extends string,
  const Price extends string,
  const Unit extends UsageUnit,
>(
  name: Name,
  column: Column,
  price: Price,
  [unit, by]: readonly [Unit, PricedBy],
  help: string,
  types: readonly ModelTypeName[],
) {
  return { name, column, price, by, unit, side: null, help, types } as const;
}
