import { type LedgerValues, ledgerColumns } from "./ledger-columns.ts";

type Value = LedgerValues[number];

/** What most entries have in the columns that few fill. A statement that says it itself binds nothing there. */
const usual: Readonly<Record<string, Value>> = {
  error_code: null,
  warnings: null,
  cost_source: "price",
  vendor_cost_nano_usd: null,
  own_cost_nano_usd: null,
  served: null,
  served_model: null,
  unpriced: null,
  operation: null,
  calls: 1,
  tags: "{}",
  cache_write_5m: 0,
  cache_write_1h: 0,
  audio_input: 0,
  audio_output: 0,
  image_input: 0,
  image_output: 0,
  images: 0,
  video_seconds: 0,
  web_searches: 0,
  file_searches: 0,
  code_sessions: 0,
  audio_seconds: 0,
  search_units: 0,
  characters: 0,
  charged_requests: 0,
  cache_read_audio: 0,
  separate_reasoning: 0,
  map_searches: 0,
  unexplained: 0,
};

/** By the places of `ledgerColumns`; undefined where a column has no such value. */
export const usualValues: readonly (Value | undefined)[] = ledgerColumns.map((column) => usual[column]);

export function literal(value: Value): string {
  return typeof value === "string" ? `'${value}'` : String(value);
}
