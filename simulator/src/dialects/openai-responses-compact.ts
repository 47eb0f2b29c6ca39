import { silentAnswer } from "../answer.ts";
import type { Dialect, Exchange } from "../dialect.ts";
import { type JsonObject, textsOf } from "../json-body.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";
import { compactionAnswer } from "./openai-responses.ts";
import { compactionItem, type ItemIds, idsOf, usageOf } from "./responses-object.ts";
import { type ResponsesRequest, readResponses } from "./responses-request.ts";
import type { ResponseStore } from "./responses-store.ts";

/** POST …/responses/compact: replaces a conversation with the user's messages and one compaction item. */
export function openAiResponsesCompact(store: ResponseStore): Dialect {
  return {
    id: "openai-responses-compact",
    matches: ({ method, path }) => method === "POST" && path.endsWith("/responses/compact"),
    read(request) {
      const read = readResponses(request, store);
      return {
        ...nonStreaming(read),
        compose: (script) => compactionAnswer(read, script),
        whole(head, { usage }) {
          const ids = idsOf(store.nonce, head);
          const messages = userMessages(read, ids);
          return JSON.stringify({
            id: ids.response,
            object: "response.compaction",
            created_at: head.created,
            output: [...messages, compactionItem(read, ids, messages.length).item],
            ...(usage === null ? {} : { usage: usageOf(usage) }),
          });
        },
      };
    },
    headers: openAiHeaders,
    error: openAiError,
  };
}

/** POST …/responses/input_tokens: counts tokens. */
export function openAiResponsesCount(store: ResponseStore): Dialect {
  return {
    id: "openai-responses-count",
    matches: ({ method, path }) => method === "POST" && path.endsWith("/responses/input_tokens"),
    read(request) {
      const read = readResponses(request, store);
      return {
        ...nonStreaming(read),
        compose: (script) => silentAnswer(script.prompt_tokens ?? read.parsed.promptTokens),
        whole: (_head, { promptTokens }) =>
          JSON.stringify({ object: "response.input_tokens", input_tokens: promptTokens }),
      };
    },
    headers: openAiHeaders,
    error: openAiError,
  };
}

/** These calls do not stream. */
function nonStreaming({ parsed }: ResponsesRequest): Pick<Exchange, "parsed" | "ping" | "events" | "errorEvent"> {
  return {
    parsed: { ...parsed, stream: false },
    ping: null,
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function userMessages(request: ResponsesRequest, ids: ItemIds): readonly JsonObject[] {
  const messages = request.context.filter((item) => item["type"] === "message" && item["role"] === "user");
  return messages.map(({ content }, index) => ({
    type: "message",
    id: ids.item("msg", index),
    role: "user",
    status: "completed",
    content: Array.isArray(content) ? content : textsOf(content).map((text) => ({ type: "input_text", text })),
  }));
}
