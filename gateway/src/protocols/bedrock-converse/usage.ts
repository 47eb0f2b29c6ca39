import { bounds, noUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { arrayOf, countOf, objectOf } from "../json/value.ts";
import { untoldOf } from "../usage/read-served.ts";

/**
 * Converse's usage: `inputTokens` stands beside what was read from or written to a cache, and `cacheDetails` tells what
 * was written for an hour. null when there is none, so that nobody takes silence for zero.
 */
export function readConverseUsage(reported: unknown): UsageReading | null {
  const counts = objectOf(reported);
  const input = countOf(counts["inputTokens"]);
  const output = countOf(counts["outputTokens"]);
  if (input === null && output === null) return null;
  const written = countOf(counts["cacheWriteInputTokens"]) ?? 0;
  let hour = 0;
  for (const entry of arrayOf(counts["cacheDetails"])) {
    const { ttl, inputTokens } = objectOf(entry);
    if (ttl === "1h") hour += countOf(inputTokens) ?? 0;
  }
  const cacheWrite1h = Math.min(hour, written);
  const raw = JSON.stringify(counts);
  return {
    usage: {
      ...noUsage,
      inputUncached: input ?? 0,
      cacheRead: countOf(counts["cacheReadInputTokens"]) ?? 0,
      cacheWrite5m: written - cacheWrite1h,
      cacheWrite1h,
      output: output ?? 0,
    },
    raw: raw.length <= bounds.rawUsageBytesMax ? raw : "{}",
    untold: untoldOf(input, output),
  };
}
