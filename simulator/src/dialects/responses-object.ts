import type { Response } from "openai/resources/responses/responses";
import { type Answer, type AnswerPart, type AnswerUsage, wholeText } from "../answer.ts";
import type { ReplyHead } from "../dialect.ts";
import { type JsonObject, objectOf, objectsOf, stringOf } from "../json-body.ts";
import { seal } from "../seal.ts";
import type { ResponsesRequest } from "./responses-request.ts";

/** The fields of a response object that do not come from the request. */
export interface ResponseState {
  readonly id: string;
  readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed";
  readonly output: readonly JsonObject[];
  readonly usage: AnswerUsage | null;
  readonly answer: Answer;
}

/** The response object, including the options of the request. */
export function responseObject(request: ResponsesRequest, head: ReplyHead, state: ResponseState): JsonObject {
  const { body } = request;
  const { status } = state;
  const hasEnded = status === "completed" || status === "incomplete";
  const fields = {
    id: state.id,
    object: "response",
    created_at: head.created,
    status,
    background: request.background,
    completed_at: hasEnded ? head.created : null,
    error: status === "failed" ? { code: "server_error", message: "The server had an error while answering." } : null,
    incomplete_details: status === "incomplete" ? { reason: reasonOf(state.answer) } : null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    max_tool_calls: body["max_tool_calls"] ?? null,
    model: request.parsed.model,
    output: state.output,
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    prompt_cache_key: body["prompt_cache_key"] ?? null,
    prompt_cache_retention: body["prompt_cache_retention"] ?? null,
    reasoning: { effort: null, summary: null, ...objectOf(body["reasoning"]) },
    safety_identifier: body["safety_identifier"] ?? null,
    service_tier: "default",
    temperature: body["temperature"] ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...objectOf(body["text"]) },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: objectsOf(body["tools"]),
    top_logprobs: body["top_logprobs"] ?? 0,
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    metadata: objectOf(body["metadata"]),
    access_programs: null,
  } satisfies Partial<Record<keyof Response, unknown>>;
  return { ...fields, store: request.stores, usage: state.usage === null ? null : usageOf(state.usage) };
}

export function usageOf(usage: AnswerUsage): Response["usage"] {
  return {
    input_tokens: usage.prompt,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.prompt + usage.output,
  };
}

export function finalStatus(answer: Answer): "completed" | "incomplete" | "failed" {
  if (answer.finish === "failed") return "failed";
  return answer.finish === "length" || answer.finish === "content_filter" ? "incomplete" : "completed";
}

function reasonOf(answer: Answer): string {
  return answer.finish === "content_filter" ? "content_filter" : "max_output_tokens";
}

/** An output item as it is announced, and as it is at the end. */
export interface PlannedItem {
  readonly opening: JsonObject;
  readonly item: JsonObject;
  /** Null for a compaction. */
  readonly part: AnswerPart | null;
}

export interface ItemIds {
  readonly response: string;
  /** The id of the item at this index; `prefix` depends on its type. */
  item(prefix: string, index: number): string;
}

export function idsOf(nonce: string, head: ReplyHead): ItemIds {
  const suffix = `sim${nonce}${head.sequence}`;
  return { response: `resp_${suffix}`, item: (prefix, index) => `${prefix}_${suffix}_${index}` };
}

export function planItems(request: ResponsesRequest, ids: ItemIds, answer: Answer): readonly PlannedItem[] {
  if (request.compacts) return [compactionItem(request, ids, 0)];
  const cut = answer.finish === "length" ? answer.parts.length - 1 : -1;
  return answer.parts.map((part, index) => {
    const status = index === cut ? "incomplete" : "completed";
    if (part.kind === "thinking") return reasoningItem(request, ids, part, index);
    if (part.kind === "text") return messageItem(ids, part, { index, status, refused: answer.finish === "refusal" });
    return callItem(ids, part, index, status);
  });
}

export function compactionItem(request: ResponsesRequest, ids: ItemIds, index: number): PlannedItem {
  const payload = `${request.parsed.promptTokens} words`;
  const item = {
    type: "compaction",
    id: ids.item("cmp", index),
    encrypted_content: seal("compaction", request.account, payload),
  };
  return { opening: item, item, part: null };
}

function reasoningItem(request: ResponsesRequest, ids: ItemIds, part: AnswerPart, index: number): PlannedItem {
  const text = wholeText(part);
  const opening = { type: "reasoning", id: ids.item("rs", index), summary: [] };
  const summary = request.summaryShown ? [{ type: "summary_text", text }] : [];
  const encrypted = request.encrypted ? { encrypted_content: seal("reasoning", request.account, text) } : {};
  return { opening, item: { ...opening, summary, ...encrypted }, part };
}

function messageItem(
  ids: ItemIds,
  part: AnswerPart,
  facts: { readonly index: number; readonly status: string; readonly refused: boolean },
): PlannedItem {
  const message = { type: "message", id: ids.item("msg", facts.index), role: "assistant" };
  const content = [facts.refused ? { type: "refusal", refusal: wholeText(part) } : textContent(wholeText(part))];
  return {
    opening: { ...message, status: "in_progress", content: [] },
    item: { ...message, status: facts.status, content },
    part,
  };
}

export function textContent(text: string): JsonObject {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

function callItem(ids: ItemIds, part: AnswerPart, index: number, status: string): PlannedItem {
  const custom = part.tool?.kind === "custom";
  const namespace = part.tool?.namespace === undefined ? {} : { namespace: part.tool.namespace };
  const call = {
    type: custom ? "custom_tool_call" : "function_call",
    id: ids.item(custom ? "ctc" : "fc", index),
    call_id: ids.item("call", index),
    name: stringOf(part.tool?.name),
    ...namespace,
  };
  const text = wholeText(part);
  if (custom) return { opening: { ...call, input: "" }, item: { ...call, input: text }, part };
  return {
    opening: { ...call, status: "in_progress", arguments: "" },
    item: { ...call, status, arguments: text },
    part,
  };
}
