import { compatibleFields, withCompatibleSettings } from "../compatible-settings.ts";
import { defineKind } from "../define-kind.ts";
import { openWeights } from "../reasoning/openai-models.ts";
import { chatWith, inputTokens, messages, nonChatLanes, responses, responsesCompact } from "../standard-lanes.ts";

/** Any server with chat completions: llama.cpp, LM Studio, a vendor without its own type. `settings.endpoints` enables more. */
export const openaiCompatible = defineKind({
  id: "openai-compatible",
  title: "OpenAI-compatible",
  baseUrl: null,
  apiKey: "optional",
  apiKeyHelp: "The server's key, if it requires one; sent as a bearer token.",
  baseUrlHelp:
    "The URL before /chat/completions, usually ending in /v1. For a private address, allow the private network.",
  fields: compatibleFields,
  reasoning: openWeights,
  lanes: [
    withCompatibleSettings(chatWith({ reasoningField: "reasoning_content" })),
    ...nonChatLanes,
    { ...responses, onlyWhenNamed: true },
    { ...responsesCompact, onlyWhenNamed: true },
    { ...inputTokens, onlyWhenNamed: true },
    { ...messages, onlyWhenNamed: true },
  ],
});
