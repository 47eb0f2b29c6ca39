import { inputTokensOf, noUsage, outputTokensOf, tokensOf, type Usage } from "#core/index.ts";
import type { OtherUsage, UsageReading } from "../dialect.ts";
import { countOf, isObject, objectOf } from "../json/value.ts";
import { imagesUsage } from "../openai-images/reply.ts";
import { missingSideOf } from "../usage/read-served.ts";
import {
  compareTotal,
  maxToolUse,
  noServerTools,
  rawUsage,
  type ServerToolUse,
  toolUseIn,
  usesTools,
} from "../usage/reading.ts";

/** Splits a response's usage into classes. Totals include cache and reasoning. Null without a usable object or tool use. */
export function readResponsesUsage(reported: unknown, tools: ToolReports = noReports): UsageReading | null {
  const usage = objectOf(reported);
  const input = countOf(usage["input_tokens"]);
  const output = countOf(usage["output_tokens"]);
  const toolUse = maxToolUse(toolUseIn(usage, tools.toolUsage), tools.counted);
  const others = imageToolUsage(tools.toolUsage, tools.images);
  if (input === null && output === null && others.length === 0 && !usesTools(toolUse)) return null;
  const inputDetails = objectOf(usage["input_tokens_details"]);
  const outputDetails = objectOf(usage["output_tokens_details"]);

  const inputTotal = input ?? 0;
  const cacheRead = Math.min(countOf(inputDetails["cached_tokens"]) ?? 0, inputTotal);
  const cacheWrite = Math.min(countOf(inputDetails["cache_write_tokens"]) ?? 0, inputTotal - cacheRead);
  const writeDetails = objectOf(inputDetails["cache_write_tokens_details"]);
  // Twelve hours count as the longer class.
  const cacheWrite1h = Math.min(countOf(writeDetails["ttl_12h_tokens"]) ?? 0, cacheWrite);
  const { beyond, unexplained } = compareTotal(countOf(usage["total_tokens"]), [input, output]);
  const outputTotal = (output ?? 0) + beyond;
  return {
    usage: {
      ...noUsage,
      inputUncached: inputTotal - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite5m: cacheWrite - cacheWrite1h,
      cacheWrite1h,
      output: outputTotal,
      reasoning: Math.min(countOf(outputDetails["reasoning_tokens"]) ?? 0, outputTotal),
      unexplained,
      ...toolUse,
    },
    raw: rawUsage(others.length === 0 ? usage : { ...usage, tool_usage: tools.toolUsage }),
    missingSide: missingSideOf(input, output),
    ...(others.length === 0 ? {} : { others }),
  };
}

interface ToolReports {
  /** The response's `tool_usage`. */
  readonly toolUsage: unknown;
  /** Counted in the output. */
  readonly counted: ServerToolUse;
  /** Pictures drawn. `model`: the upstream's name of the image model, or empty. */
  readonly images?: { readonly pictures: number; readonly model: string };
}

const noReports: ToolReports = { toolUsage: null, counted: noServerTools };

export function writeResponsesUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = inputTokensOf(usage);
  const output = outputTokensOf(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead + usage.cacheReadAudio, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning + usage.separateReasoning },
    total_tokens: input + output,
  };
}

/**
 * Use of the image model: "usage reported by hosted tools, separate from base model `usage`" (OpenAI's SDK, Response.tool_usage). Empty
 * without tokens.
 */
function imageToolUsage(toolUsage: unknown, { pictures, model } = { pictures: 0, model: "" }): readonly OtherUsage[] {
  const images = objectOf(toolUsage)["image_gen"];
  if (!isObject(images)) return [];
  const used = imagesUsage(images, null, pictures).usage;
  if (tokensOf(used) === 0) return [];
  const cached = countOf(images["cached_tokens"]) ?? 0;
  const image = Math.min(
    countOf(objectOf(images["cached_tokens_details"])["cached_image_tokens"]) ?? 0,
    used.imageInput,
  );
  const text = Math.min(Math.max(0, cached - image), used.inputUncached);
  const usage = {
    ...used,
    inputUncached: used.inputUncached - text,
    imageInput: used.imageInput - image,
    cacheRead: text + image,
  };
  return [{ model, usage }];
}
