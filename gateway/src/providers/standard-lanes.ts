import { modelEndpoints } from "@sluice/contract/words";
import { type NativeEndpointId, nativeDialects } from "#core/index.ts";
import type { DialectTraits } from "#protocols/index.ts";
import type { Lane, OutboundDraft } from "./kind.ts";

/** The lanes as their vendors define them; other vendors reuse them and list their differences. */
function lane(endpoint: Lane["endpoint"], dialect: Lane["dialect"], path: string, more: Partial<Lane> = {}): Lane {
  return { endpoint, dialect, path, ...more };
}

export const chat = lane("chat", "openai-chat", "/chat/completions");
export const responses = lane("responses", "openai-responses", "/responses");
export const responsesCompact = lane("responses-compact", "openai-responses", "/responses/compact");
export const inputTokens = lane("input-tokens", "openai-responses", "/responses/input_tokens");
export const images = lane("images", "openai-images", "/images/generations");
export const imageEdits = lane("image-edits", "openai-images", "/images/edits");

/** An endpoint without translation: the upstream has our path below its own version. */
function nativeLane(endpoint: NativeEndpointId): Lane {
  return lane(endpoint, nativeDialects[endpoint], modelEndpoints[endpoint].path.replace(/^\/v1/, ""));
}

export const embeddings = nativeLane("embeddings");
export const completions = nativeLane("completions");
export const rerank = nativeLane("rerank");
export const moderations = nativeLane("moderations");
export const decisions = nativeLane("decisions");
export const speech = nativeLane("speech");
export const transcriptions = nativeLane("transcriptions");
export const translations = nativeLane("translations");

/** Every lane without conversations, for servers that may have any of them. New native endpoints are included automatically. */
export const nonChatLanes: readonly Lane[] = [
  ...(Object.keys(nativeDialects) as NativeEndpointId[]).map(nativeLane),
  images,
  imageEdits,
];

export const messages = lane("messages", "anthropic-messages", "/messages", { adjust: requireVersion });
export const countTokens = lane("count-tokens", "anthropic-messages", "/messages/count_tokens", {
  adjust: requireVersion,
});

export const generate = lane("generate", "gemini", "/models/{model}:generateContent", {
  streamPath: "/models/{model}:streamGenerateContent?alt=sse",
});
export const interactions = lane("interactions", "gemini-interactions", "/interactions");
export const geminiDecisions = lane("gemini-decisions", "gemini-decisions", "/decisions");
export const geminiCountTokens = lane("gemini-count-tokens", "gemini", "/models/{model}:countTokens");
export const embedContent = lane("embed-content", "gemini-embed-content", "/models/{model}:embedContent");
export const batchEmbedContents = lane(
  "batch-embed-contents",
  "gemini-batch-embed",
  "/models/{model}:batchEmbedContents",
);

export function chatWith(traits: DialectTraits): Lane {
  return { ...chat, traits };
}

/** For a Messages API at a path derived from the base URL. */
export function messagesAt(part: RegExp, replacement: string): Lane {
  return { ...messages, rootOf: (root) => root.replace(part, replacement) };
}

/** Anthropic's API requires a version; translated calls have none. */
export function requireVersion(draft: OutboundDraft): void {
  draft.headers["anthropic-version"] ??= "2023-06-01";
}
