import { bounds, noUsage, type Usage } from "#core/index.ts";
import type { OtherUsage, UsageReading } from "../dialect.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf } from "../json-value.ts";
import { toolUseIn } from "../server-tools.ts";
import { untoldOf } from "../untold-usage.ts";

/**
 * Anthropic's usage object into classes that do not overlap: `input_tokens` leaves out what was written to and read
 * from the cache, thinking is inside `output_tokens`. A reported zero is a value. Returns null when there is no usable
 * object, so that nobody takes silence for zero.
 */
export function readMessagesUsage(reported: unknown): UsageReading | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["input_tokens"]);
  const output = countOf(reported["output_tokens"]);
  if (input === null && output === null) return null;
  let usage = classesOf(reported);
  const others: OtherUsage[] = [];
  for (const iteration of arrayOf(reported["iterations"])) {
    if (!isObject(iteration)) continue;
    // "A `compaction` entry's tokens are not included in the top-level `usage` fields" (context compaction, beta).
    if (iteration["type"] === "compaction") usage = sum(usage, classesOf(iteration));
    // Nor are an adviser's, which is another model (advisor tool, beta).
    else if (iteration["type"] === "advisor_message") {
      others.push({ model: textOf(iteration["model"]) ?? "", usage: classesOf(iteration) });
    }
  }
  const raw = JSON.stringify(reported);
  return {
    usage,
    raw: raw.length <= bounds.rawUsageBytesMax ? raw : "{}",
    ...untoldOf(input, output),
    ...(others.length === 0 ? {} : { others }),
  };
}

/**
 * What a stream's later usage says over what was known: every field it tells replaces the earlier one and none is
 * added, for the numbers are cumulative; null tells nothing.
 */
export function mergeUsage(known: JsonObject, later: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...known };
  for (const [name, value] of Object.entries(later)) if (value !== null) merged[name] = value;
  return merged;
}

/** The usage object of an answer. Anthropic has no classes for sounds and pictures: they count as ordinary tokens. */
export function writeMessagesUsage(usage: Usage | null): MessagesUsage {
  const { cacheWrite5m, cacheWrite1h, cacheRead, reasoning, ...told } = usage ?? noUsage;
  return {
    cache_creation: { ephemeral_1h_input_tokens: cacheWrite1h, ephemeral_5m_input_tokens: cacheWrite5m },
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead,
    inference_geo: null,
    input_tokens: told.inputUncached + told.audioInput + told.imageInput,
    output_tokens: told.output + told.audioOutput + told.imageOutput,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    service_tier: null,
    speed: null,
  };
}

export interface MessagesUsage {
  readonly cache_creation: {
    readonly ephemeral_1h_input_tokens: number;
    readonly ephemeral_5m_input_tokens: number;
  };
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly inference_geo: null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly output_tokens_details: { readonly thinking_tokens: number };
  readonly server_tool_use: null;
  readonly service_tier: null;
  readonly speed: null;
}

function classesOf(reported: JsonObject): Usage {
  const output = countOf(reported["output_tokens"]) ?? 0;
  const split = objectOf(reported["cache_creation"]);
  const told5m = countOf(split["ephemeral_5m_input_tokens"]) ?? 0;
  const told1h = countOf(split["ephemeral_1h_input_tokens"]) ?? 0;
  // The split stands only at a stream's start and may lag behind the total: the total counts, and what the split
  // does not explain was written for five minutes, which is the default.
  const written = countOf(reported["cache_creation_input_tokens"]) ?? told5m + told1h;
  const cacheWrite1h = Math.min(told1h, written);
  return {
    ...noUsage,
    inputUncached: countOf(reported["input_tokens"]) ?? 0,
    cacheRead: countOf(reported["cache_read_input_tokens"]) ?? 0,
    cacheWrite5m: written - cacheWrite1h,
    cacheWrite1h,
    output,
    reasoning: Math.min(countOf(objectOf(reported["output_tokens_details"])["thinking_tokens"]) ?? 0, output),
    ...toolUseIn(reported),
  };
}

function sum(one: Usage, other: Usage): Usage {
  return {
    ...one,
    inputUncached: one.inputUncached + other.inputUncached,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite5m: one.cacheWrite5m + other.cacheWrite5m,
    cacheWrite1h: one.cacheWrite1h + other.cacheWrite1h,
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
    webSearches: one.webSearches + other.webSearches,
    codeSessions: one.codeSessions + other.codeSessions,
  };
}
