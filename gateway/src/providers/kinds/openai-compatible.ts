import { asServersVary, compatibleFields } from "../compatible-settings.ts";
import { openaiLike } from "../openai-like.ts";
import { openWeights } from "../reasoning/openai-models.ts";
import { besideChat, chatWith, inputTokens, messages, responses, responsesCompact } from "../standard-lanes.ts";

/**
 * Any server that speaks chat completions below its base URL: llama.cpp, LM Studio, a vendor without a kind of its
 * own. What more it can, `settings.endpoints` says.
 */
export const openaiCompatible = openaiLike({
  id: "openai-compatible",
  title: "OpenAI-compatible",
  baseUrl: null,
  variable: null,
  apiKey: "optional",
  apiKeyHelp: "What the server asks for, if anything; sent as a bearer.",
  baseUrlHelp:
    "What stands before /chat/completions, mostly with /v1 at its end. On a private address, allow the private network.",
  fields: compatibleFields,
  reasoning: openWeights,
  lanes: [
    asServersVary(chatWith({ reasoningField: "reasoning_content" })),
    ...besideChat,
    { ...responses, onlyWhenNamed: true },
    { ...responsesCompact, onlyWhenNamed: true },
    { ...inputTokens, onlyWhenNamed: true },
    { ...messages, onlyWhenNamed: true },
  ],
});
