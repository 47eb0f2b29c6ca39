import { type Answer, type AnswerBlock, Failure, type FinishReason } from "#core/index.ts";
import type { AnswerSource } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, objectOf, parseReply, textOf } from "../json/value.ts";
import { customArguments } from "../openai-chat/custom-tool.ts";
import { plainName, wholeArguments } from "../turn/tool-calls.ts";
import { warnOfCaller, warnOfStranger, warnOfUnread } from "../turn/warnings.ts";
import { readAnnotations } from "./annotations.ts";
import { upstreamFailure } from "./error.ts";
import { readResponsesUsage } from "./usage.ts";

/** A whole response in neutral form. Built-in tools' own items have none. */
export function readResponsesAnswer(body: Uint8Array, source: AnswerSource): Answer {
  const response = parseReply(body);
  const { status } = response;
  if (status === "failed") throw upstreamFailure(objectOf(response["error"]));
  if (!Array.isArray(response["output"])) {
    if (isObject(response["error"])) throw upstreamFailure(response);
    throw new Failure("upstream_error", "The upstream's answer is not a response.", {
      retry: "other",
      unhealthy: true,
    });
  }
  if (status === "queued" || status === "in_progress" || status === "cancelled") {
    throw new Failure("upstream_error", `The upstream's answer is ${status}.`, { retry: "other", unhealthy: true });
  }
  warnOfUnread(response, ofResponse, "the answer", source.warn);
  const blocks = arrayOf(response["output"]).flatMap((item) => blocksOf(objectOf(item), source));
  return {
    id: textOf(response["id"]),
    model: textOf(response["model"]),
    blocks,
    finish: { reason: finishOf(status === "incomplete" ? response : null, has(blocks)), stopSequence: null },
    usage: readResponsesUsage(response["usage"])?.usage ?? null,
  };
}

/** What is read of a response, what labels it, and what says the request again. */
export const ofResponse: ReadonlySet<string> = new Set([
  ...[
    "id",
    "object",
    "created_at",
    "completed_at",
    "model",
    "status",
    "error",
    "incomplete_details",
    "output",
    "usage",
  ],
  ...["tool_usage", "service_tier", "billing", "output_text", "store", "background", "conversation", "instructions"],
  ...["access_programs", "max_output_tokens", "max_tool_calls", "metadata", "parallel_tool_calls", "prompt"],
  ...["previous_response_id", "prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "reasoning"],
  ...[
    "safety_identifier",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
  ],
  ...["presence_penalty", "frequency_penalty", "context_management", "caching", "thinking", "expire_at"],
]);

/** What one finished output item says. */
export function blocksOf(item: JsonObject, source: AnswerSource): AnswerBlock[] {
  warnOfItem(item, source);
  switch (item["type"]) {
    case "message":
      return arrayOf(item["content"]).flatMap((part) => messageBlock(objectOf(part), source));
    case "function_call":
      return [callBlock(item, wholeArguments(textOf(item["arguments"]) ?? ""), source)];
    case "custom_tool_call":
      return [callBlock(item, customArguments(textOf(item["input"]) ?? ""), source)];
    case "reasoning":
      return reasoningBlock(item, source);
    case "image_generation_call":
      return imageBlock(item);
    default:
      warnOfStranger("items", item["type"], source.warn);
      return [];
  }
}

/** Names what an item holds beside what is read of its type. */
export function warnOfItem(item: JsonObject, { warn }: AnswerSource): void {
  const read = ofItems.get(item["type"]);
  if (read === undefined) return;
  warnOfUnread(item, read, "an item", warn);
  warnOfCaller(item, warn);
  if (item["type"] !== "message") return;
  for (const part of arrayOf(item["content"])) {
    const held = objectOf(part);
    if (ofParts.has(held["type"])) warnOfUnread(held, ofPart, "a text", warn);
    else warnOfStranger("parts", held["type"], warn);
  }
}

const ofEveryItem = ["type", "id", "status", "caller"];
const ofItems: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ["message", new Set([...ofEveryItem, "role", "content", "phase"])],
  ["function_call", new Set([...ofEveryItem, "call_id", "name", "arguments"])],
  ["custom_tool_call", new Set([...ofEveryItem, "call_id", "name", "input"])],
  ["reasoning", new Set([...ofEveryItem, "summary", "content", "encrypted_content"])],
  [
    "image_generation_call",
    // What the picture was asked to be is said again.
    new Set([...ofEveryItem, "result", "output_format", "action", "background", "quality", "size", "svg_usage"]),
  ],
]);
const ofParts: ReadonlySet<unknown> = new Set(["output_text", "refusal", "text"]);
const ofPart: ReadonlySet<string> = new Set(["type", "text", "refusal", "annotations"]);

export function callIdOf(item: JsonObject, source: AnswerSource): string {
  return textOf(item["call_id"]) ?? textOf(item["id"]) ?? source.newId("call_");
}

/** The tool's own name: one that this API would not take was written in another form. */
export function callNameOf(item: JsonObject): string {
  return plainName(textOf(item["name"]) ?? "");
}

/** `incomplete` is a response that broke off. Else what came out decides: a call is to be answered, a refusal is none. */
export function finishOf(
  incomplete: JsonObject | null,
  met: { readonly calls: boolean; readonly refusal: boolean },
): FinishReason {
  if (incomplete !== null) {
    const { reason } = objectOf(incomplete["incomplete_details"]);
    if (reason === "content_filter") return "content-filter";
    // Whatever broke it off, the answer is not whole: a cap on messages, another instruction that came in between.
    return reason === "steered" ? "pause" : "length";
  }
  if (met.calls) return "tool-calls";
  return met.refusal ? "refusal" : "stop";
}

/** Thoughts of an item: the summary, or where there is none what was thought itself. */
export function thoughtsOf(item: JsonObject): string {
  return joined(item["summary"]) || joined(item["content"]);
}

function has(blocks: readonly AnswerBlock[]): { calls: boolean; refusal: boolean } {
  return {
    calls: blocks.some((block) => block.kind === "tool-call"),
    refusal: blocks.some((block) => block.kind === "refusal"),
  };
}

function messageBlock(part: JsonObject, source: AnswerSource): AnswerBlock[] {
  if (part["type"] === "refusal") return [{ kind: "refusal", text: textOf(part["refusal"]) ?? "" }];
  const text = textOf(part["text"]);
  if (text === null) return [];
  const citations = readAnnotations(part["annotations"], source.warn);
  return [{ kind: "text", text, ...(citations.length === 0 ? {} : { citations }) }];
}

function callBlock(item: JsonObject, argumentsText: string, source: AnswerSource): AnswerBlock {
  return {
    kind: "tool-call",
    id: callIdOf(item, source),
    name: callNameOf(item),
    argumentsText,
    seal: null,
  };
}

function reasoningBlock(item: JsonObject, source: AnswerSource): AnswerBlock[] {
  const text = thoughtsOf(item);
  const data = textOf(item["encrypted_content"]) ?? "";
  if (text === "" && data === "") return [];
  const seal =
    data === ""
      ? null
      : { dialect: "openai-responses" as const, account: source.account, data, itemId: textOf(item["id"]) };
  return [{ kind: "reasoning", text, seal, redacted: false }];
}

function imageBlock(item: JsonObject): AnswerBlock[] {
  const data = textOf(item["result"]);
  if (data === null || data === "") return [];
  const mediaType = `image/${textOf(item["output_format"]) ?? "png"}`;
  return [{ kind: "image", source: { kind: "base64", mediaType, data } }];
}

function joined(parts: unknown): string {
  return arrayOf(parts)
    .map((part) => textOf(objectOf(part)["text"]) ?? "")
    .filter((text) => text !== "")
    .join("\n\n");
}
