import { bounds, noUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { toolUseIn } from "../server-tools.ts";
import { untoldOf } from "../untold-usage.ts";

/**
 * OpenAI's usage object into classes that do not overlap. `cached_tokens`, `cache_write_tokens` and `audio_tokens`
 * are included in `prompt_tokens`; reasoning and audio are included in `completion_tokens`. A reported zero is a
 * value. Returns null when there is no usable object, so that nobody takes silence for zero.
 */
export function readChatUsage(reported: unknown): UsageReading | null {
  if (!isRecord(reported)) return null;
  const prompt = count(reported["prompt_tokens"]);
  const completion = count(reported["completion_tokens"]);
  if (prompt === null && completion === null) return null;
  const promptDetails = asRecord(reported["prompt_tokens_details"]);
  const completionDetails = asRecord(reported["completion_tokens_details"]);

  const promptTotal = prompt ?? 0;
  // DeepSeek and Moonshot tell what was read from the cache beside the totals, not in the details.
  const cached =
    count(promptDetails["cached_tokens"]) ??
    count(reported["prompt_cache_hit_tokens"]) ??
    count(reported["cached_tokens"]);
  const cacheRead = Math.min(cached ?? 0, promptTotal);
  const cacheWrite = Math.min(count(promptDetails["cache_write_tokens"]) ?? 0, promptTotal - cacheRead);
  const audioInput = Math.min(count(promptDetails["audio_tokens"]) ?? 0, promptTotal - cacheRead - cacheWrite);
  const completionTotal = completion ?? 0;
  const audioOutput = Math.min(count(completionDetails["audio_tokens"]) ?? 0, completionTotal);
  const output = completionTotal - audioOutput;
  return {
    usage: {
      ...noUsage,
      inputUncached: promptTotal - cacheRead - cacheWrite - audioInput,
      cacheRead,
      cacheWrite5m: cacheWrite,
      audioInput,
      output,
      audioOutput,
      reasoning: Math.min(count(completionDetails["reasoning_tokens"]) ?? 0, output),
      ...toolUseIn(reported),
    },
    raw: rawText(reported),
    ...untoldOf(prompt, completion),
  };
}

function rawText(reported: object): string {
  const text = JSON.stringify(reported);
  return text.length <= bounds.rawUsageBytesMax ? text : "{}";
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
