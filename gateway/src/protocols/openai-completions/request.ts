import { requestFields } from "@sluice/contract/words";
import { bodyNames } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import { MemberChecks } from "../member-checks.ts";
import { streamFacts } from "../openai-chat/request.ts";
import { passedFacts, textOrTokens } from "../passed-json.ts";
import { readCount, readLabel, scanRequest, sizeOf } from "../request-members.ts";

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
export function readCompletionsRequest(body: Uint8Array): RequestFacts {
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
