import { noUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, objectOf } from "../json-value.ts";

/**
 * Cohere tells search units in `meta.billed_units`, Jina and Voyage tokens in `usage`, others tokens in `meta`. What is told as
 * billed comes before what was merely read. null when nothing is told.
 */
export function rerankUsage(member: (name: string) => unknown): Pick<UsageReading, "usage"> | null {
  const usage = objectOf(member("usage"));
  const meta = objectOf(member("meta"));
  const billed = objectOf(meta["billed_units"]);
  const read = objectOf(meta["tokens"]);
  const searchUnits = countOf(billed["search_units"]);
  const tokens =
    countOf(billed["input_tokens"]) ??
    countOf(billed["total_tokens"]) ??
    countOf(usage["total_tokens"]) ??
    countOf(usage["prompt_tokens"]) ??
    countOf(read["input_tokens"]);
  if (searchUnits === null && tokens === null) return null;
  return { usage: { ...noUsage, inputUncached: tokens ?? 0, searchUnits: searchUnits ?? 0 } };
}
