import { emptyUsage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json-value.ts";
import { rawUsage } from "../raw-usage.ts";
import { toolUseIn } from "../server-tools.ts";
import { untoldOf } from "../untold-usage.ts";

/**
 * OpenAI's usage object into classes that do not overlap. `cached_tokens`, `cache_write_tokens`, `audio_tokens` and `image_tokens`
 * are included in `prompt_tokens`; reasoning, audio and pictures are included in `completion_tokens`. A reported zero is a
 * value. Returns null when there is no usable object, so that nobody takes silence for zero.
 */
export function readChatUsage(reported: unknown): UsageReading | null {
  if (!isObject(reported)) return null;
  const prompt = countOf(reported["prompt_tokens"]);
  const completion = countOf(reported["completion_tokens"]);
  if (prompt === null && completion === null) return null;
  const promptDetails = objectOf(reported["prompt_tokens_details"]);
  const completionDetails = objectOf(reported["completion_tokens_details"]);

  const totals = totalsOf(reported, prompt, completion);
  const cacheRead = Math.min(cachedOf(reported), totals.prompt);
  const cacheWrite = Math.min(countOf(promptDetails["cache_write_tokens"]) ?? 0, totals.prompt - cacheRead);
  const fresh = totals.prompt - cacheRead - cacheWrite;
  const audioInput = Math.min(countOf(promptDetails["audio_tokens"]) ?? 0, fresh);
  const imageInput = Math.min(countOf(promptDetails["image_tokens"]) ?? 0, fresh - audioInput);
  const audioOutput = Math.min(countOf(completionDetails["audio_tokens"]) ?? 0, totals.completion);
  const imageOutput = Math.min(countOf(completionDetails["image_tokens"]) ?? 0, totals.completion - audioOutput);
  const output = totals.completion - audioOutput - imageOutput;
  const tools = toolUseIn(reported);
  const usage = emptyUsage();
  usage.inputUncached = fresh - audioInput - imageInput;
  usage.cacheRead = cacheRead;
  usage.cacheWrite5m = cacheWrite;
  usage.audioInput = audioInput;
  usage.imageInput = imageInput;
  usage.output = output;
  usage.audioOutput = audioOutput;
  usage.imageOutput = imageOutput;
  usage.reasoning = Math.min(totals.reasoning, output);
  usage.webSearches = tools.webSearches;
  usage.fileSearches = tools.fileSearches;
  usage.codeSessions = tools.codeSessions;
  return { usage, raw: rawUsage(reported), ...untoldOf(prompt, completion) };
}

/** DeepSeek and Moonshot tell what was read from the cache beside the totals, not in the details. */
function cachedOf(reported: JsonObject): number {
  return (
    countOf(objectOf(reported["prompt_tokens_details"])["cached_tokens"]) ??
    countOf(reported["prompt_cache_hit_tokens"]) ??
    countOf(reported["cached_tokens"]) ??
    0
  );
}

interface Totals {
  readonly prompt: number;
  readonly completion: number;
  readonly reasoning: number;
}

/**
 * Both sides whole. xAI tells what was thought in the details and leaves it out of `completion_tokens`; Google's OpenAI-compatible
 * endpoints leave it out and tell it nowhere. Both have it in `total_tokens`, and charge it as output. Sources: docs.x.ai,
 * "Consumption and rate limits"; Gemini API, `usageMetadata`, which those endpoints tell.
 */
function totalsOf(reported: JsonObject, prompt: number | null, completion: number | null): Totals {
  const reasoning = countOf(objectOf(reported["completion_tokens_details"])["reasoning_tokens"]) ?? 0;
  const told: Totals = { prompt: prompt ?? 0, completion: completion ?? 0, reasoning };
  const total = countOf(reported["total_tokens"]);
  if (total === null || prompt === null || completion === null) return told;
  const beyond = total - prompt - completion;
  if (beyond <= 0) return told;
  if (reasoning > 0) return beyond < reasoning ? told : { ...told, completion: completion + reasoning };
  // Of those who count what came from the cache beside the prompt; Mistral does so with what was heard.
  if (beyond === cachedOf(reported) || countOf(reported["prompt_audio_seconds"]))
    return { ...told, prompt: prompt + beyond };
  return { ...told, completion: completion + beyond, reasoning: beyond };
}
