import type { Dialect } from "../dialect.ts";
import { anthropicCountTokens, anthropicMessages } from "./anthropic-messages.ts";
import { azureChat } from "./azure-chat.ts";
import { bedrockConverse } from "./bedrock-converse.ts";
import { bedrockInvoke } from "./bedrock-invoke.ts";
import { gemini } from "./gemini.ts";
import { oauthToken } from "./oauth-token.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiEmbeddings } from "./openai-embeddings.ts";
import { openAiImages } from "./openai-images.ts";
import { openAiResponses } from "./openai-responses.ts";
import { openAiResponsesCompact, openAiResponsesCount } from "./openai-responses-compact.ts";
import { openAiResponsesStored } from "./openai-responses-stored.ts";
import { createResponseStore } from "./responses-store.ts";
import { vertexAnthropic } from "./vertex-anthropic.ts";

export interface DialectOptions {
  readonly awsSecret?: string;
  readonly googlePublicKey?: string;
}

/** All dialects of one simulator, with its memory; the first that matches serves. A new one is a file and a line here. */
export function createDialects(options: DialectOptions): readonly Dialect[] {
  const store = createResponseStore();
  return [
    azureChat,
    openAiChat,
    anthropicMessages,
    anthropicCountTokens,
    openAiResponses(store),
    openAiResponsesCompact(store),
    openAiResponsesCount(store),
    openAiResponsesStored(store),
    gemini,
    vertexAnthropic,
    bedrockInvoke(options.awsSecret),
    bedrockConverse(options.awsSecret),
    openAiImages,
    openAiEmbeddings,
    oauthToken(options.googlePublicKey ?? null),
  ];
}
