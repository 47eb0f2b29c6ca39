import { emptyUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, isObject, objectOf } from "../json-value.ts";
import { rawUsage } from "../raw-usage.ts";
import { toolUseIn } from "../server-tools.ts";
import { untoldOf } from "../untold-usage.ts";

/**
 * OpenAI's usage object into classes that do not overlap. `cached_tokens`, `cache_write_tokens` and `audio_tokens`
 * are included in `prompt_tokens`; reasoning and audio are included in `completion_tokens`. A reported zero is a
 * value. Returns null when there is no usable object, so that nobody takes silence for zero.
 */
export function readChatUsage(reported: unknown): UsageReading | null {
  if (!isObject(reported)) return null;
  const prompt = countOf(reported["prompt_tokens"]);
  const completion = countOf(reported["completion_tokens"]);
  if (prompt === null && completion === null) return null;
  const promptDetails = objectOf(reported["prompt_tokens_details"]);
  const completionDetails = objectOf(reported["completion_tokens_details"]);

  const promptTotal = prompt ?? 0;
  // DeepSeek and Moonshot tell what was read from the cache beside the totals, not in the details.
  const cached =
    countOf(promptDetails["cached_tokens"]) ??
    countOf(reported["prompt_cache_hit_tokens"]) ??
    countOf(reported["cached_tokens"]);
  const cacheRead = Math.min(cached ?? 0, promptTotal);
  const cacheWrite = Math.min(countOf(promptDetails["cache_write_tokens"]) ?? 0, promptTotal - cacheRead);
  const audioInput = Math.min(countOf(promptDetails["audio_tokens"]) ?? 0, promptTotal - cacheRead - cacheWrite);
  const completionTotal = completion ?? 0;
  const audioOutput = Math.min(countOf(completionDetails["audio_tokens"]) ?? 0, completionTotal);
  const output = completionTotal - audioOutput;
  const tools = toolUseIn(reported);
  const usage = emptyUsage();
  usage.inputUncached = promptTotal - cacheRead - cacheWrite - audioInput;
  usage.cacheRead = cacheRead;
  usage.cacheWrite5m = cacheWrite;
  usage.audioInput = audioInput;
  usage.output = output;
  usage.audioOutput = audioOutput;
  usage.reasoning = Math.min(countOf(completionDetails["reasoning_tokens"]) ?? 0, output);
  usage.webSearches = tools.webSearches;
  usage.fileSearches = tools.fileSearches;
  usage.codeSessions = tools.codeSessions;
  return { usage, raw: rawUsage(reported), ...untoldOf(prompt, completion) };
}
