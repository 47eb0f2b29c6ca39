import { bounds, type Usage } from "#core/index.ts";
import type { Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { countOf, type JsonObject, objectOf, textOf } from "../json/value.ts";

/** How an OpenAI-compatible upstream counts tokens where it differs from OpenAI. */
export interface UsageConvention {
  /**
   * Where reasoning is counted. `beside`: only in `completion_tokens_details`. `total`: only in `total_tokens`. Default: in
   * `completion_tokens`.
   */
  readonly reasoning?: "beside" | "total";
  /** Cached tokens are not in `prompt_tokens`. */
  readonly cacheBeside?: true;
  /** Audio tokens of the prompt are only in `total_tokens`. */
  readonly soundInTotal?: true;
}

/**
 * Compares an upstream's total with its parts. `beyond`: tokens in no part, charged as output. `unexplained`: the absolute difference.
 * Both are 0 without a total or if a part is not reported.
 */
export function compareTotal(total: number | null, parts: readonly (number | null)[]): typeof noDifference {
  if (total === null || total === 0) return noDifference;
  let sum = 0;
  for (const part of parts) {
    if (part === null) return noDifference;
    sum += part;
  }
  return { beyond: Math.max(0, total - sum), unexplained: Math.abs(total - sum) };
}

const noDifference = Object.freeze({ beyond: 0 as number, unexplained: 0 as number });

/** The vendor's usage object for the ledger; `{}` if it is too long. */
export function rawUsage(reported: unknown): string {
  const text = JSON.stringify(reported) ?? "{}";
  return text.length <= bounds.rawUsageBytesMax ? text : "{}";
}

/** Use of the upstream's own tools. */
export type ServerToolUse = Pick<Usage, "webSearches" | "fileSearches" | "mapSearches" | "codeSessions">;

export const noServerTools: ServerToolUse = Object.freeze({
  webSearches: 0,
  fileSearches: 0,
  mapSearches: 0,
  codeSessions: 0,
});

/**
 * Reads tool use from a usage object. OpenAI reports `tool_usage` beside usage; xAI `server_side_tool_usage_details` or
 * `num_sources_used`, Qwen `plugins.search`, Ark `tool_usage` inside, OpenRouter `server_tool_use`, others `num_search_queries`.
 */
export function toolUseIn(reported: JsonObject, beside: unknown = null): ServerToolUse {
  const server = objectOf(reported["server_tool_use"]);
  const sides = objectOf(reported["server_side_tool_usage_details"]);
  const toolUsage = beside === null ? objectOf(reported["tool_usage"]) : objectOf(beside);
  const plugin = objectOf(objectOf(reported["plugins"])["search"]);
  const sided = add(countOf(sides["web_search_calls"]), countOf(sides["x_search_calls"]));
  return {
    mapSearches: 0,
    webSearches:
      countOf(server["web_search_requests"]) ??
      sided ??
      reportedCount(toolUsage["web_search"]) ??
      countOf(plugin["count"]) ??
      countOf(reported["num_search_queries"]) ??
      countOf(reported["num_sources_used"]) ??
      0,
    fileSearches: countOf(sides["file_search_calls"]) ?? reportedCount(toolUsage["file_search"]) ?? 0,
    codeSessions:
      countOf(server["code_execution_requests"]) ??
      countOf(sides["code_interpreter_calls"]) ??
      reportedCount(toolUsage["code_interpreter"]) ??
      0,
  };
}

export function usesTools({ webSearches, fileSearches, mapSearches, codeSessions }: ServerToolUse): boolean {
  return webSearches + fileSearches + mapSearches + codeSessions > 0;
}

/** The larger of two counts of the same use. */
export function maxToolUse(one: ServerToolUse, other: ServerToolUse): ServerToolUse {
  return {
    webSearches: Math.max(one.webSearches, other.webSearches),
    fileSearches: Math.max(one.fileSearches, other.fileSearches),
    mapSearches: Math.max(one.mapSearches, other.mapSearches),
    codeSessions: Math.max(one.codeSessions, other.codeSessions),
  };
}

/** Counts tool calls in the output items of a response: searches (opening pages is free), pictures, and containers that code ran in. */
export class OutputTools {
  readonly #use = { ...noServerTools };
  pictures = 0;
  readonly #containers = new Set<string>();

  countAll(bytes: Uint8Array, output: Span): this {
    if (!mayHoldTools(bytes, output)) return this;
    for (const item of skimArray(bytes, output, bounds.jsonValuesMax) ?? []) this.take(bytes, item);
    return this;
  }

  take(bytes: Uint8Array, item: Span): void {
    if (!mayHoldTools(bytes, item)) return;
    const members = skimObject(bytes, item.start, item.end, itemMembers);
    const type = textOf(skimValue(bytes, members?.get("type")));
    if (type === "web_search_call") {
      const action = textOf(objectOf(skimValue(bytes, members?.get("action")))["type"]) ?? "search";
      if (action === "search") this.#use.webSearches++;
    } else if (type === "file_search_call") this.#use.fileSearches++;
    else if (type === "image_generation_call") this.pictures++;
    else if (type === "code_interpreter_call" && this.#containers.size < bounds.jsonValuesMax) {
      this.#containers.add(textOf(skimValue(bytes, members?.get("container_id"))) ?? "");
    }
  }

  get any(): boolean {
    return usesTools(this.use);
  }

  get containerIds(): readonly string[] {
    return [...this.#containers].filter((id) => id !== "");
  }

  get use(): ServerToolUse {
    return { ...this.#use, codeSessions: this.#containers.size };
  }
}

function mayHoldTools(bytes: Uint8Array, { start, end }: Span): boolean {
  const part = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return toolMarks.some((mark) => part.includes(mark));
}

const toolMarks = ["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"].map(
  (mark) => Buffer.from(mark),
);
const itemMembers: ReadonlySet<string> = new Set(["type", "action", "container_id"]);

/** Either a number or an object with the number. */
function reportedCount(value: unknown): number | null {
  return countOf(value) ?? countOf(objectOf(value)["num_requests"]) ?? countOf(objectOf(value)["num_calls"]);
}

function add(one: number | null, other: number | null): number | null {
  return one === null && other === null ? null : (one ?? 0) + (other ?? 0);
}
