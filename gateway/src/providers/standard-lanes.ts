import { modelEndpoints } from "@sluice/contract/words";
import { type NativeEndpointId, nativeDialects } from "#core/index.ts";
import type { DialectTraits } from "#protocols/index.ts";
import type { Lane, OutboundDraft } from "./kind.ts";

/** The lanes as their inventors laid them. A vendor that copied one takes it from here and says what differs. */
export const chat: Lane = { endpoint: "chat", dialect: "openai-chat", path: "/chat/completions" };
export const responses: Lane = { endpoint: "responses", dialect: "openai-responses", path: "/responses" };
export const responsesCompact: Lane = {
  endpoint: "responses-compact",
  dialect: "openai-responses",
  path: "/responses/compact",
};
export const inputTokens: Lane = {
  endpoint: "input-tokens",
  dialect: "openai-responses",
  path: "/responses/input_tokens",
};

/** Of the endpoints whose calls are passed as they are: asked at the upstream as here, below its own version. */
function nativeLane(endpoint: NativeEndpointId): Lane {
  return { endpoint, dialect: nativeDialects[endpoint], path: modelEndpoints[endpoint].path.replace(/^\/v1/, "") };
}

export const embeddings = nativeLane("embeddings");
export const completions = nativeLane("completions");
export const rerank = nativeLane("rerank");
export const moderations = nativeLane("moderations");
export const speech = nativeLane("speech");
export const transcriptions = nativeLane("transcriptions");
export const translations = nativeLane("translations");
export const images: Lane = { endpoint: "images", dialect: "openai-images", path: "/images/generations" };
export const imageEdits: Lane = { endpoint: "image-edits", dialect: "openai-images", path: "/images/edits" };

/** What stands beside conversations where a server may have everything. A new endpoint that is passed as it is, is in it by itself. */
export const besideChat: readonly Lane[] = [
  ...(Object.keys(nativeDialects) as NativeEndpointId[]).map(nativeLane),
  images,
  imageEdits,
];

export const messages: Lane = {
  endpoint: "messages",
  dialect: "anthropic-messages",
  path: "/messages",
  adjust: requireVersion,
};
export const countTokens: Lane = {
  endpoint: "count-tokens",
  dialect: "anthropic-messages",
  path: "/messages/count_tokens",
  adjust: requireVersion,
};

export const generate: Lane = {
  endpoint: "generate",
  dialect: "gemini",
  path: "/models/{model}:generateContent",
  streamPath: "/models/{model}:streamGenerateContent?alt=sse",
};

export const geminiCountTokens: Lane = {
  endpoint: "gemini-count-tokens",
  dialect: "gemini",
  path: "/models/{model}:countTokens",
};

export const embedContent: Lane = {
  endpoint: "embed-content",
  dialect: "gemini-embed-content",
  path: "/models/{model}:embedContent",
};
export const batchEmbedContents: Lane = {
  endpoint: "batch-embed-contents",
  dialect: "gemini-batch-embed",
  path: "/models/{model}:batchEmbedContents",
};

export function chatWith(traits: DialectTraits): Lane {
  return { ...chat, traits };
}

/** For vendors whose Messages API stands beside their chat completions: what of the base URL gives way to what. */
export function messagesBeside(part: RegExp, replacement: string): Lane {
  return { ...messages, rootOf: (root) => root.replace(part, replacement) };
}

/** Anthropic's API refuses a call without a version; a call that was translated brings none. */
export function requireVersion(draft: OutboundDraft): void {
  draft.headers["anthropic-version"] ??= "2023-06-01";
}
