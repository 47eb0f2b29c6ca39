import { requestFields } from "@sluice/contract/words";
import type { RequestFacts, Wire } from "../dialect.ts";
import { readChatReply } from "../openai-chat/reply.ts";
import { chatEdits, streamFacts } from "../openai-chat/request.ts";
import { ChatStreamTap } from "../openai-chat/stream.ts";
import { MemberChecks } from "../request/member-checks.ts";
import { bodyNames, readCount, readLabel, scanRequest, sizeOf } from "../request/members.ts";
import { passedFacts, textOrTokens } from "./passed-json.ts";

const checks = new MemberChecks(requestFields.completions);

const wanted = bodyNames([
  "model",
  "prompt",
  "suffix",
  "stream",
  "stream_options",
  "max_tokens",
  "n",
  "prompt_cache_key",
  "user",
]);

/** Reads what governs a request for completions. Source: OpenAI API reference, "Create completion". */
function readCompletionsRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  checks.check(body, members);
  const { tokens, texts } = textOrTokens(body, members.get("prompt"));
  const cap = readCount(body, members.get("max_tokens"));
  // Each prompt of a list is answered by itself.
  const choices = Math.max(1, readCount(body, members.get("n")) ?? 1) * texts;
  return passedFacts(body, members, {
    ...streamFacts(body, members),
    inputEstimate: tokens + Math.ceil(sizeOf(members.get("suffix")) / 4),
    outputTokensMax: cap === null ? null : cap * choices,
    ...(choices > 1 ? { choices } : {}),
    affinity: readLabel(body, members.get("prompt_cache_key")) ?? readLabel(body, members.get("user")),
    counted: undefined,
  });
}

/**
 * Text that goes on from a prompt, or stands between a prompt and a suffix. Streams and usage are those of chat completions;
 * only what was generated stands in `text`.
 */
export const completionsWire: Wire = {
  readRequest: readCompletionsRequest,
  requestEdits: chatEdits,
  smallestRequest: (model) => ({ model, prompt: "ok", max_tokens: 1 }),
  readReply: readChatReply,
  tapStream: (hideUsage, convention) => new ChatStreamTap(hideUsage, { marks: textMarks, convention }),
};

const textMarks = [Buffer.from('"text":', "latin1")];
