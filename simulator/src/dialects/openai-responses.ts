import { type Answer, composeAnswer, silentAnswer, usageFor } from "../answer.ts";
import type { Dialect, Exchange, ReplyHead } from "../dialect.ts";
import type { Script } from "../script.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import { type ResponsesContext, responsesEvents, Sequence } from "./responses-events.ts";
import { finalStatus, idsOf, planItems, responseObject } from "./responses-object.ts";
import { type ResponsesRequest, readResponses } from "./responses-request.ts";
import { type ResponseStore, responseAt } from "./responses-store.ts";

/** OpenAI's Responses, with any base path. Stored responses belong to the API key that created them. */
export function openAiResponses(store: ResponseStore): Dialect {
  return {
    id: "openai-responses",
    matches: ({ method, path }) => method === "POST" && path.endsWith("/responses"),
    read: (request) => new ResponsesExchange(readResponses(request, store), store),
    headers: openAiHeaders,
    error: openAiError,
  };
}

class ResponsesExchange implements Exchange {
  readonly parsed: Exchange["parsed"];
  readonly ping = null;
  readonly #request: ResponsesRequest;
  readonly #store: ResponseStore;
  readonly #sequence = new Sequence();
  /** The answer of a background response, which its first reply does not contain yet. */
  #later: Answer | null = null;
  #backgroundMs = 0;

  constructor(request: ResponsesRequest, store: ResponseStore) {
    this.parsed = request.parsed;
    this.#request = request;
    this.#store = store;
  }

  compose(script: Script): Answer {
    const answer = this.#request.compacts
      ? compactionAnswer(this.#request, script)
      : composeAnswer(this.parsed, script);
    if (!this.#request.background || this.parsed.stream) return answer;
    this.#later = answer;
    this.#backgroundMs = script.background_ms ?? 50;
    return silentAnswer(answer.promptTokens);
  }

  whole(head: ReplyHead, answer: Answer): string {
    const show = showOf(this.#request, head, this.#later ?? answer, this.#store);
    if (this.#later === null) {
      this.#save(show, 0);
      return JSON.stringify(show.final);
    }
    const stored = this.#save(show, this.#backgroundMs);
    return JSON.stringify(responseAt(stored, stored.startedAt));
  }

  *events(head: ReplyHead, answer: Answer): Generator<ReturnType<Exchange["errorEvent"]>> {
    const show = showOf(this.#request, head, answer, this.#store);
    // A background response is stored from its first event on, because it completes even without a reader.
    if (this.#request.background) this.#save(show, 0);
    for (const event of responsesEvents(show, this.#sequence)) {
      if (event.role === "last" || event.role === "terminal") this.#save(show, 0);
      yield event;
    }
  }

  errorEvent(refusal: Parameters<Exchange["errorEvent"]>[0]): ReturnType<Exchange["errorEvent"]> {
    const fields = { code: "server_error", message: refusal.message, param: null };
    return { ...this.#sequence.replaceLast("error", fields), role: "error" };
  }

  #save(show: ResponsesContext, waitMs: number) {
    const { account, input, previous, background, stores } = this.#request;
    const startedAt = Date.now();
    const stored = {
      id: show.id,
      account,
      input,
      previous,
      background,
      final: show.final,
      answer: show.answer,
      startedAt,
      readyAt: startedAt + waitMs,
      cancelled: false,
      events: () => responsesEvents(show, new Sequence()),
    };
    if (stores) this.#store.put(stored);
    return stored;
  }
}

function showOf(request: ResponsesRequest, head: ReplyHead, answer: Answer, store: ResponseStore): ResponsesContext {
  const ids = idsOf(store.nonce, head);
  const items = planItems(request, ids, answer);
  const status = finalStatus(answer);
  const final = responseObject(request, head, {
    id: ids.response,
    status,
    output: items.map(({ item }) => item),
    usage: status === "failed" ? null : answer.usage,
    answer,
  });
  return { request, head, answer, id: ids.response, items, final };
}

/** A compaction is one content event. */
export function compactionAnswer(request: ResponsesRequest, script: Script): Answer {
  const promptTokens = script.prompt_tokens ?? request.parsed.promptTokens;
  const reasoningTokens = script.reasoning_tokens ?? 0;
  const totals = { prompt: promptTokens, output: 1 + reasoningTokens, reasoning: reasoningTokens };
  return { ...silentAnswer(promptTokens), reasoningTokens, contentTokens: 1, usage: usageFor(script, totals) };
}
