import { type Answer, type AnswerPart, type AnswerUsage, composeAnswer, silentAnswer, wholeText } from "../answer.ts";
import { type Dialect, type Exchange, Refusal, type ReplyHead } from "../dialect.ts";
import type { DialectEvent } from "../framing.ts";
import { type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import type { Script } from "../script.ts";
import { accountOf, seal, sign } from "../seal.ts";
import { pngBase64 } from "../tiny-png.ts";
import { googleHeaders, requireGoogleKey } from "./google-conventions.ts";
import { type InteractionRequest, readInteraction } from "./interactions-request.ts";
import { type InteractionStore, interactionAt, type StoredInteraction } from "./interactions-store.ts";

/** Google's Interactions. Stored interactions belong to the API key that created them. */
export function geminiInteractions(store: InteractionStore): Dialect {
  return {
    id: "gemini-interactions",
    matches: ({ method, path }) => method === "POST" && path.endsWith("/interactions"),
    read(request) {
      requireGoogleKey(request);
      return new InteractionExchange(readInteraction(request, store), store);
    },
    headers: googleHeaders,
    error: interactionError,
  };
}

/** Stored interactions: GET and DELETE …/interactions/{id}, POST …/cancel. Scripts apply to the model of the interaction. */
export function geminiInteractionsStored(store: InteractionStore): Dialect {
  const counted = new WeakSet<StoredInteraction>();
  return {
    id: "gemini-interactions-stored",
    auxiliary: true,
    matches: ({ method, path }) => {
      const match = pathPattern.exec(path);
      if (match === null) return false;
      return match[2] === undefined ? method === "GET" || method === "DELETE" : method === "POST";
    },
    read(request) {
      requireGoogleKey(request);
      const match = pathPattern.exec(request.path);
      const id = pathPart(match?.[1]);
      const stored = store.find(accountOf(request.headers), id);
      if (stored === null) throw new Refusal(404, `Interaction ${id} not found.`);
      if (match?.[2] !== undefined) return plain(stored, cancel(stored));
      if (request.method === "DELETE") {
        store.remove(stored);
        return plain(stored, {});
      }
      return retrieval(stored, request, counted);
    },
    headers: googleHeaders,
    error: interactionError,
  };
}

const pathPattern = /\/interactions\/([^/]+)(\/cancel)?$/;

function interactionError({ status, message, code }: Refusal): string {
  return JSON.stringify({
    error: { code: code ?? codes[status] ?? (status < 500 ? "invalid_request" : "internal"), message },
  });
}

const codes: Readonly<Record<number, string>> = {
  401: "unauthenticated",
  403: "permission_denied",
  404: "not_found",
  429: "resource_exhausted",
  503: "unavailable",
};

function plain(stored: StoredInteraction, body: JsonObject): Exchange {
  return {
    parsed: bareRequest(stringOf(stored.final["model"] ?? stored.final["agent"])),
    ping: null,
    compose: () => silentAnswer(),
    whole: () => JSON.stringify(body),
    events: () => [],
    errorEvent,
  };
}

function retrieval(
  stored: StoredInteraction,
  request: SimulatorRequest,
  counted: WeakSet<StoredInteraction>,
): Exchange {
  const query = new URLSearchParams(request.query);
  const body = interactionAt(stored, Date.now());
  const exchange = plain(stored, query.get("include_input") === "true" ? { ...body, input: stored.input } : body);
  if (query.get("stream") === "true") {
    const after = Number(query.get("last_event_id") ?? 0);
    const events = (): DialectEvent[] =>
      [...stored.events()].filter((_, index) => index >= after).map((event) => ({ ...event, tokens: 0 }));
    return { ...exchange, parsed: { ...exchange.parsed, stream: true }, events };
  }
  // The first retrieval of a finished background interaction adds its tokens to the records.
  if (!stored.background || body !== stored.final || counted.has(stored)) return exchange;
  counted.add(stored);
  return { ...exchange, compose: () => stored.answer };
}

function cancel(stored: StoredInteraction): JsonObject {
  if (!stored.background) throw new Refusal(400, "Only background interactions can be canceled.");
  const now = Date.now();
  if (now < stored.readyAt) stored.cancelled = true;
  return interactionAt(stored, now);
}

class InteractionExchange implements Exchange {
  readonly parsed: Exchange["parsed"];
  readonly ping = null;
  readonly errorEvent = errorEvent;
  readonly #request: InteractionRequest;
  readonly #store: InteractionStore;
  /** The answer of a background interaction, which its first reply does not contain yet. */
  #later: Answer | null = null;
  #backgroundMs = 0;

  constructor(request: InteractionRequest, store: InteractionStore) {
    this.parsed = request.parsed;
    this.#request = request;
    this.#store = store;
  }

  compose(script: Script): Answer {
    const composed = composeAnswer(this.parsed, script);
    const answer: Answer =
      this.#request.continues && composed.finish === "pause" ? { ...composed, finish: "stop" } : composed;
    if (!this.#request.background || this.parsed.stream) return answer;
    this.#later = answer;
    this.#backgroundMs = script.background_ms ?? 50;
    return silentAnswer(answer.promptTokens);
  }

  whole(head: ReplyHead, answer: Answer): string {
    const stored = this.#save(head, this.#later ?? answer, this.#later === null ? 0 : this.#backgroundMs);
    return JSON.stringify(interactionAt(stored, stored.startedAt));
  }

  events(head: ReplyHead, answer: Answer): Iterable<DialectEvent> {
    return this.#save(head, answer, 0).events();
  }

  #save(head: ReplyHead, answer: Answer, waitMs: number): StoredInteraction {
    const request = this.#request;
    const { account, input, previous, background } = request;
    const id = `v1_${this.#store.nonce}${head.sequence}`;
    const final = finalOf(request, head, answer, id);
    const startedAt = Date.now();
    const stored: StoredInteraction = {
      ...{ id, account, input, previous, background, final, answer, startedAt },
      readyAt: startedAt + waitMs,
      cancelled: false,
      events: () => eventsOf(request, head, answer, final),
    };
    if (request.stores) this.#store.put(stored);
    return stored;
  }
}

function finalOf(request: InteractionRequest, head: ReplyHead, answer: Answer, id: string): JsonObject {
  const status = statusOf(answer);
  const time = new Date(head.created * 1_000).toISOString();
  return {
    id,
    object: "interaction",
    [request.named]: request.parsed.model,
    status,
    created: time,
    updated: time,
    service_tier: request.tier,
    ...(request.previous === null ? {} : { previous_interaction_id: request.previous.id }),
    ...(answer.finish === "refusal" ? { errors: [{ code: "safety", message: "The answer was blocked." }] } : {}),
    ...(answer.finish === "failed" ? { errors: [{ code: "internal", message: "The model failed." }] } : {}),
    steps: answer.finish === "failed" ? [] : answer.parts.map((part, at) => stepOf(request, head, part, at)),
    ...(status === "requires_continuation" ? { continuation_token: seal("continuation", request.account, id) } : {}),
    ...usageField(request, answer.finish === "failed" ? null : answer.usage),
  };
}

function statusOf({ finish }: Answer): string {
  if (finish === "tool_calls") return "requires_action";
  if (finish === "pause") return "requires_continuation";
  if (finish === "failed") return "failed";
  return finish === "stop" || finish === "stop_sequence" ? "completed" : "incomplete";
}

function stepOf(request: InteractionRequest, head: ReplyHead, part: AnswerPart, at: number): JsonObject {
  if (part.kind === "thinking") {
    const summary = request.summaryShown ? [{ type: "text", text: wholeText(part) }] : [];
    return { type: "thought", signature: sign("thought", ""), summary };
  }
  if (part.kind === "call") {
    const args = parseObject(Buffer.from(wholeText(part))) ?? {};
    return { type: "function_call", id: callId(head, at), name: part.tool?.name ?? "", arguments: args };
  }
  return { type: "model_output", content: [contentOf(head, part)] };
}

function contentOf(head: ReplyHead, part: AnswerPart): JsonObject {
  if (part.kind === "text") return { type: "text", text: wholeText(part) };
  return { type: "image", mime_type: "image/png", data: pngBase64(head.script.giant_event_bytes ?? 0) };
}

function callId({ sequence }: ReplyHead, at: number): string {
  return `call_sim${sequence}_${at}`;
}

/** created, every step from its start to its end, the completed interaction, [DONE]. */
function* eventsOf(
  request: InteractionRequest,
  head: ReplyHead,
  answer: Answer,
  final: JsonObject,
): Iterable<DialectEvent> {
  let number = 0;
  const event = (type: string, fields: JsonObject, more: Partial<DialectEvent> = {}): DialectEvent => {
    number += 1;
    const data = JSON.stringify({ event_type: type, ...fields, event_id: String(number) });
    return { event: type, data, tokens: 0, ...more };
  };
  const { steps: _steps, usage: _usage, continuation_token: _token, errors: _errors, ...opening } = final;
  yield event("interaction.created", { interaction: { ...opening, status: "in_progress" } });
  yield event("interaction.status_update", { interaction_id: final["id"], status: "in_progress" });
  const parts = answer.finish === "failed" ? [] : answer.parts;
  for (const [index, part] of parts.entries()) {
    const delta = (fields: JsonObject, tokens: number): DialectEvent =>
      event("step.delta", { index, delta: fields }, { tokens, role: "content" });
    yield event("step.start", { index, step: startOf(head, part, index) });
    yield* partDeltas(request, head, part, delta);
    yield event("step.stop", { index });
  }
  const { steps: _all, ...completed } = final;
  yield event("interaction.completed", { interaction: completed }, { role: answer.usage === null ? "last" : "usage" });
  yield { data: "[DONE]", tokens: 0, role: "terminal" };
}

function startOf(head: ReplyHead, part: AnswerPart, at: number): JsonObject {
  if (part.kind === "thinking") return { type: "thought" };
  if (part.kind !== "call") return { type: "model_output" };
  return { type: "function_call", id: callId(head, at), name: part.tool?.name ?? "", arguments: {} };
}

function* partDeltas(
  request: InteractionRequest,
  head: ReplyHead,
  part: AnswerPart,
  delta: (fields: JsonObject, tokens: number) => DialectEvent,
): Iterable<DialectEvent> {
  if (part.kind === "image") {
    yield delta(contentOf(head, part), part.tokens);
    return;
  }
  const isShown = part.kind !== "thinking" || request.summaryShown;
  for (let index = 0; isShown && index < part.count; index += 1) {
    const text = part.piece(index);
    if (part.kind === "text") yield delta({ type: "text", text }, 1);
    else if (part.kind === "call") yield delta({ type: "arguments_delta", arguments: text }, 1);
    else yield delta({ type: "thought_summary", content: { type: "text", text } }, 0);
  }
  if (part.kind === "thinking") yield delta({ type: "thought_signature", signature: sign("thought", "") }, 0);
}

/** The input includes cached tokens; the output excludes thoughts. */
function usageField(request: InteractionRequest, usage: AnswerUsage | null): JsonObject {
  if (usage === null) return {};
  const { prompt, cached, output, reasoning } = usage;
  const modality = request.parsed.image === "alone" ? "image" : "text";
  return {
    usage: {
      total_input_tokens: prompt,
      input_tokens_by_modality: [{ modality: "text", tokens: prompt }],
      total_cached_tokens: cached,
      total_output_tokens: output - reasoning,
      output_tokens_by_modality: [{ modality, tokens: output - reasoning }],
      total_thought_tokens: reasoning,
      total_tool_use_tokens: 0,
      total_tokens: prompt + output,
    },
  };
}

function errorEvent(refusal: Refusal): DialectEvent {
  const error = { code: "unavailable", message: refusal.message };
  return { event: "error", data: JSON.stringify({ event_type: "error", error }), tokens: 0, role: "error" };
}
