import { emptyUsage, inputTokensOf, outputTokensOf, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, isObject, type JsonObject, objectOf } from "../json/value.ts";
import { missingSideOf } from "../usage/read-served.ts";
import { compareTotal, rawUsage, toolUseIn, type UsageConvention } from "../usage/reading.ts";

/**
 * Splits chat usage into classes. OpenAI includes cache, audio and picture tokens in `prompt_tokens`, and reasoning, audio and pictures
 * in `completion_tokens`; `convention` describes other vendors. A reported zero counts; null without a usable object.
 */
export function readChatUsage(reported: unknown, convention: UsageConvention = {}): UsageReading | null {
  if (!isObject(reported)) return null;
  const prompt = countOf(reported["prompt_tokens"]);
  const completion = countOf(reported["completion_tokens"]);
  if (prompt === null && completion === null) return null;
  const promptDetails = objectOf(reported["prompt_tokens_details"]);
  const completionDetails = objectOf(reported["completion_tokens_details"]);
  const research = researchOf(reported);

  const totals = totalsOf(reported, prompt, completion, convention);
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
  usage.inputUncached = fresh - audioInput - imageInput + research.citations;
  usage.cacheRead = cacheRead;
  usage.cacheWrite5m = cacheWrite;
  usage.audioInput = audioInput;
  usage.imageInput = imageInput;
  usage.output = output;
  usage.audioOutput = audioOutput;
  usage.imageOutput = imageOutput;
  usage.reasoning = Math.min(totals.reasoning, output);
  usage.separateReasoning = research.reasoning;
  usage.unexplained = totals.unexplained;
  usage.webSearches = tools.webSearches;
  usage.fileSearches = tools.fileSearches;
  usage.codeSessions = tools.codeSessions;
  return { usage, raw: rawUsage(reported), missingSide: missingSideOf(prompt, completion) };
}

/** DeepSeek and Moonshot report cached tokens outside the details. */
function cachedOf(reported: JsonObject): number {
  return (
    countOf(objectOf(reported["prompt_tokens_details"])["cached_tokens"]) ??
    countOf(reported["prompt_cache_hit_tokens"]) ??
    countOf(reported["cached_tokens"]) ??
    0
  );
}

/**
 * Perplexity's deep research charges citations as input and reasoning on its own, both outside `total_tokens`. Only Perplexity reports
 * `citation_tokens`. Source: docs.perplexity.ai, "Pricing".
 */
function researchOf(reported: JsonObject) {
  const citations = countOf(reported["citation_tokens"]);
  const reasoning = citations === null ? 0 : (countOf(reported["reasoning_tokens"]) ?? 0);
  return { citations: citations ?? 0, reasoning };
}

/** Totals of both sides, including what the upstream leaves out. */
function totalsOf(reported: JsonObject, prompt: number | null, completion: number | null, convention: UsageConvention) {
  const { cache_write_tokens: written } = objectOf(reported["prompt_tokens_details"]);
  const thought = countOf(objectOf(reported["completion_tokens_details"])["reasoning_tokens"]) ?? 0;
  const cached = convention.cacheBeside === true ? cachedOf(reported) + (countOf(written) ?? 0) : 0;
  const beside = convention.reasoning === "beside" ? thought : 0;
  const total = countOf(reported["total_tokens"]);
  const { beyond, unexplained } = compareTotal(total, [prompt, cached, completion, beside]);
  const isReasoning = beyond > 0 && convention.reasoning === "total";
  const isSound =
    beyond > 0 &&
    !isReasoning &&
    convention.soundInTotal === true &&
    Boolean(countOf(reported["prompt_audio_seconds"]));
  return {
    prompt: (prompt ?? 0) + cached + (isSound ? beyond : 0),
    completion: (completion ?? 0) + beside + (isSound ? 0 : beyond),
    reasoning: isReasoning ? thought + beyond : thought,
    unexplained: isReasoning || isSound ? 0 : unexplained,
  };
}

export function writeChatUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = inputTokensOf(usage);
  const completion = outputTokensOf(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead + usage.cacheReadAudio,
      cache_write_tokens: cacheWrite,
      audio_tokens: usage.audioInput,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning + usage.separateReasoning,
      audio_tokens: usage.audioOutput,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
