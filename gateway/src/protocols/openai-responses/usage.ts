import { bounds, noUsage, type Usage } from "#core/index.ts";
import type { UsageReading } from "../dialect.ts";
import { countOf, isObject, objectOf } from "../json-value.ts";
import { moreOf, noServerTools, type ServerToolUse, toolUseIn } from "../server-tools.ts";

/**
 * A response's usage in classes that do not overlap. `cached_tokens` and `cache_write_tokens` are included in
 * `input_tokens`, reasoning in `output_tokens`. Returns null when there is no usable object, so that nobody takes
 * silence for zero.
 */
export function readResponsesUsage(reported: unknown, tools: ToolReports = noReports): UsageReading | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["input_tokens"]);
  const output = countOf(reported["output_tokens"]);
  if (input === null && output === null) return null;
  const inputDetails = objectOf(reported["input_tokens_details"]);
  const outputDetails = objectOf(reported["output_tokens_details"]);

  const inputTotal = input ?? 0;
  const cacheRead = Math.min(countOf(inputDetails["cached_tokens"]) ?? 0, inputTotal);
  const cacheWrite = Math.min(countOf(inputDetails["cache_write_tokens"]) ?? 0, inputTotal - cacheRead);
  const outputTotal = output ?? 0;
  return {
    usage: {
      ...noUsage,
      inputUncached: inputTotal - cacheRead - cacheWrite,
      cacheRead,
      cacheWrite5m: cacheWrite,
      output: outputTotal,
      reasoning: Math.min(countOf(outputDetails["reasoning_tokens"]) ?? 0, outputTotal),
      ...moreOf(toolUseIn(reported, tools.beside), tools.seen),
    },
    raw: rawText(reported),
  };
}

/** What else a response tells of its upstream's own tools. */
export interface ToolReports {
  /** Its `tool_usage`. */
  readonly beside: unknown;
  /** Counted in its output. */
  readonly seen: ServerToolUse;
}

const noReports: ToolReports = { beside: null, seen: noServerTools };

/** The same back in a response's shape, whose totals include every class. */
export function writeResponsesUsage(usage: Usage): object {
  const cacheWrite = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.inputUncached + usage.cacheRead + cacheWrite + usage.audioInput + usage.imageInput;
  const output = usage.output + usage.audioOutput + usage.imageOutput;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}

function rawText(reported: object): string {
  const text = JSON.stringify(reported);
  return text.length <= bounds.rawUsageBytesMax ? text : "{}";
}
