import type { z } from "zod";
import type { ModelTypeName } from "./model-endpoints.ts";

/** What one of a class is. */
export type UsageUnit = "token" | "image" | "second" | "call" | "unit" | "character";

/** For how many of a class a price is written: vendors quote tokens by the million, searches by the thousand. */
export type PricedBy = "one" | "thousand" | "million";

export interface UsageClassRow {
  /** As the gateway's code says it. */
  readonly name: string;
  /** In the ledger, its rollups, exports and the admin API. */
  readonly column: string;
  /** The member of a price that pays for it; null: it is told inside another class. */
  readonly price: string | null;
  readonly by: PricedBy;
  readonly unit: UsageUnit;
  /** Of tokens: what they are counted to. */
  readonly side: "input" | "output" | null;
  /** Of tokens: the class whose price it has where none is written for it; null: it then costs nothing. It stands further up. */
  readonly costsAs?: string | null;
  /** Whether a price of long contexts may say another for it. */
  readonly longContext?: boolean;
  /** Models of which types are mostly priced by it. */
  readonly types: readonly ModelTypeName[];
  /** What the field of the config file says of itself. */
  readonly help?: string;
}

/**
 * Everything that is counted, once: ledger, journal, prices, reports, export and console are made of this table. Classes do
 * not overlap, but `reasoning` and `unexplained`, which are inside `output`. Journals hold counts in this order, so a new class stands last;
 * it needs a migration that adds its column.
 */
export const usageTable = [
  token("inputUncached", "input_uncached", "input", "input", { costsAs: null, longContext: true }, [
    "chat",
    "completion",
    "image",
    "embedding",
    "rerank",
    "moderation",
    "transcription",
    "speech",
  ]),
  token("cacheRead", "cache_read", "cache_read", "input", { costsAs: "inputUncached", longContext: true }, ["chat"]),
  token("cacheWrite5m", "cache_write_5m", "cache_write_5m", "input", { costsAs: "inputUncached", longContext: true }, [
    "chat",
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
    "USD per thousand searches of the web that the upstream makes for a call.",
    ["chat"],
  ),
  counted(
    "fileSearches",
    "file_searches",
    "file_search",
    ["call", "thousand"],
    "USD per thousand searches of stored files.",
    ["chat"],
  ),
  counted(
    "codeSessions",
    "code_sessions",
    "code_session",
    ["call", "thousand"],
    "USD per thousand places that the upstream runs code in.",
    ["chat"],
  ),
  counted(
    "audioSeconds",
    "audio_seconds",
    "audio_second",
    ["second", "one"],
    "USD per second of audio that is transcribed.",
    ["transcription"],
  ),
  counted(
    "searchUnits",
    "search_units",
    "search_unit",
    ["unit", "thousand"],
    "USD per thousand search units of a rerank (Cohere: a query with up to 100 documents).",
    ["rerank"],
  ),
  counted(
    "characters",
    "characters",
    "character",
    ["character", "million"],
    "USD per million characters that are spoken.",
    ["speech"],
  ),
  counted(
    "chargedRequests",
    "charged_requests",
    "request",
    ["call", "thousand"],
    "USD per thousand requests, beside what else they use.",
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
    "USD per thousand answers that are grounded on maps.",
    [],
  ),
  // Tokens by which the upstream's own total differs from its parts. Where the total is larger, they are also counted as output.
  token("unexplained", "unexplained", null, "output", { costsAs: null, longContext: false }, []),
] as const satisfies readonly UsageClassRow[];

type UsageRow = (typeof usageTable)[number];

/** The classes as code names them. */
export type UsageClassName = UsageRow["name"];
export type UsageColumnName = UsageRow["column"];
/** The members of a price that are one figure. */
export type PriceMember = NonNullable<UsageRow["price"]>;

/** `cost`: the schema of a figure in USD. The fields of a price, one for each class that has one. */
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

/** What a price of long contexts may say: one field for each class that may cost something else then. */
export function longContextFields<Cost extends z.ZodNumber>(
  cost: Cost,
): { readonly [Member in LongContextMember]: z.ZodOptional<Cost> } {
  return Object.fromEntries(longContextRows.map(({ price }) => [price, cost.optional()])) as {
    readonly [Member in LongContextMember]: z.ZodOptional<Cost>;
  };
}

type LongContextRow = Extract<UsageRow, { readonly longContext: true }>;
export type LongContextMember = LongContextRow["price"];

/** The classes that may cost something else in a long context. */
export const longContextRows: readonly LongContextRow[] = usageTable.filter(
  (row): row is LongContextRow => "longContext" in row && row.longContext,
);

/** How a class of tokens is priced beside its own figure. */
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
