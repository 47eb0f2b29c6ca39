import { emptyUsage, noUsage, type Usage } from "#core/index.ts";
import type { OtherUsage, ReplyFacts, UsageReading } from "../dialect.ts";
import { errorText, invalidReply, scanReply } from "../errors/upstream-errors.ts";
import { readSpan } from "../json/scan.ts";
import { arrayOf, countOf, isObject, type JsonObject, objectOf, textOf, withoutNulls } from "../json/value.ts";
import { readLabel, readSmall } from "../request/members.ts";
import { missingSideOf, readServed } from "../usage/read-served.ts";
import { rawUsage, toolUseIn } from "../usage/reading.ts";

/**
 * Splits Anthropic's usage into classes. `input_tokens` excludes the cache, `output_tokens` includes thinking. A reported zero counts;
 * null without a usable object.
 */
export function readMessagesUsage(reported: unknown): UsageReading | null {
  if (!isObject(reported)) return null;
  const input = countOf(reported["input_tokens"]);
  const output = countOf(reported["output_tokens"]);
  if (input === null && output === null) return null;
  const { usage, others } = iterationsOf(reported);
  const reading = { usage, raw: rawUsage(reported), missingSide: missingSideOf(input, output) };
  return others.length === 0 ? reading : { ...reading, others };
}

/** Merges later usage of a stream: numbers are cumulative, null reports nothing. */
export function mergeUsage(known: JsonObject, later: JsonObject): JsonObject {
  return { ...known, ...withoutNulls(later) };
}

/** Anthropic has no classes for audio and pictures: they count as text. */
export function writeMessagesUsage(usage: Usage | null) {
  const { cacheWrite5m, cacheWrite1h, cacheRead, reasoning, ...counts } = usage ?? noUsage;
  return {
    cache_creation: { ephemeral_1h_input_tokens: cacheWrite1h, ephemeral_5m_input_tokens: cacheWrite5m },
    cache_creation_input_tokens: cacheWrite5m + cacheWrite1h,
    cache_read_input_tokens: cacheRead + counts.cacheReadAudio,
    inference_geo: null,
    input_tokens: counts.inputUncached + counts.audioInput + counts.imageInput,
    output_tokens: counts.output + counts.audioOutput + counts.imageOutput + counts.separateReasoning,
    output_tokens_details: { thinking_tokens: reasoning + counts.separateReasoning },
    server_tool_use: null,
    service_tier: null,
    speed: null,
  };
}

function classesOf(reported: JsonObject): Usage {
  const output = countOf(reported["output_tokens"]) ?? 0;
  const split = objectOf(reported["cache_creation"]);
  const written5m = countOf(split["ephemeral_5m_input_tokens"]) ?? 0;
  const written1h = countOf(split["ephemeral_1h_input_tokens"]) ?? 0;
  // The split may lag behind the total. The rest was written for five minutes, the default.
  const written = countOf(reported["cache_creation_input_tokens"]) ?? written5m + written1h;
  const cacheWrite1h = Math.min(written1h, written);
  const tools = toolUseIn(reported);
  const usage = emptyUsage();
  usage.inputUncached = countOf(reported["input_tokens"]) ?? 0;
  usage.cacheRead = countOf(reported["cache_read_input_tokens"]) ?? 0;
  usage.cacheWrite5m = written - cacheWrite1h;
  usage.cacheWrite1h = cacheWrite1h;
  usage.output = output;
  usage.reasoning = Math.min(countOf(objectOf(reported["output_tokens_details"])["thinking_tokens"]) ?? 0, output);
  usage.webSearches = tools.webSearches;
  usage.fileSearches = tools.fileSearches;
  usage.codeSessions = tools.codeSessions;
  return usage;
}

/**
 * Splits usage into the sampling requests behind one answer, each priced by its own length: `usage` is the last, `others` the earlier
 * ones and those not in the top-level fields. Beyond the bound they stay together, which is never cheaper. Sources: Anthropic's context
 * compaction and advisor tool (beta).
 */
function iterationsOf(reported: JsonObject): { readonly usage: Usage; readonly others: readonly OtherUsage[] } {
  let usage = classesOf(reported);
  const iterations = arrayOf(reported["iterations"]).filter(isObject);
  if (iterations.length === 0) return { usage, others: [] };
  const last = iterations.findLast(isIncluded);
  const others: OtherUsage[] = [];
  for (const iteration of iterations) {
    if (iteration === last) continue;
    const classes = classesOf(iteration);
    const included = isIncluded(iteration);
    if (others.length >= iterationsMax) {
      if (!included) usage = combine(usage, classes, (one, other) => one + other);
      continue;
    }
    if (included) usage = combine(usage, classes, (one, other) => Math.max(0, one - other));
    others.push({ model: textOf(iteration["model"]) ?? "", usage: classes });
  }
  return { usage, others };
}

/** Ledger entries for one answer. */
const iterationsMax = 32;

/** Whether the top-level fields include it. */
function isIncluded({ type }: JsonObject): boolean {
  return type === "message" || type === "fallback_message";
}

function combine(one: Usage, other: Usage, by: (one: number, other: number) => number): Usage {
  return { ...one, ...Object.fromEntries(perIteration.map((name) => [name, by(one[name], other[name])])) };
}

const perIteration = ["inputUncached", "cacheRead", "cacheWrite5m", "cacheWrite1h", "output", "reasoning"] as const;

const replyMembers: ReadonlySet<string> = new Set([
  "id",
  "model",
  "content",
  "usage",
  "error",
  "input_tokens",
  "container",
]);

export function readMessagesReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body, replyMembers);
  const content = members.get("content");
  const error = members.get("error");
  if (content === undefined && error === undefined) throw invalidReply("is not a message");
  const usageAt = members.get("usage");
  const usage = usageAt === undefined ? null : readSpan(body, usageAt);
  return {
    usage: readMessagesUsage(usage),
    served: readServed({ model: readSmall(body, members.get("model")) }, usage),
    errorMessage: content === undefined && error !== undefined ? errorText(readSpan(body, error)) : null,
    outputEstimate: content === undefined ? 0 : Math.ceil((content.end - content.start) / 4),
    id: readLabel(body, members.get("id")),
    createdIds: containerIn(readSmall(body, members.get("container"))),
  };
}

export function containerIn(container: unknown): readonly string[] {
  const id = isObject(container) ? textOf(container["id"]) : null;
  return id === null ? [] : [id];
}
