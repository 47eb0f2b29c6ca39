import { noUsage } from "#core/index.ts";
import type { UsageReading } from "./dialect.ts";
import { countOf, isObject } from "./json-value.ts";

/**
 * `{"prompt_tokens","total_tokens"}` of answers that generate nothing: the same number, of which some vendors send only one.
 * null when neither is there, so that nobody takes silence for zero.
 */
export function promptUsage(reported: unknown): Pick<UsageReading, "usage"> | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["prompt_tokens"]) ?? countOf(reported["total_tokens"]);
  return input === null ? null : { usage: { ...noUsage, inputUncached: input } };
}
