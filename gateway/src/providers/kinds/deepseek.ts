import { asMaxTokens } from "../chat-quirks.ts";
import { openaiLike } from "../openai-like.ts";
import { deepseekModels } from "../reasoning/vendor-models.ts";
import { chatWith, completions, messagesBeside, responses } from "../standard-lanes.ts";

/**
 * Thoughts of a tool loop must come back as reasoning_content. Source: api-docs.deepseek.com, "Thinking Mode",
 * "Using the Anthropic API". Prices are those of its peak hours; at other times it takes half.
 */
export const deepseek = openaiLike({
  id: "deepseek",
  title: "DeepSeek",
  baseUrl: "https://api.deepseek.com",
  variable: "DEEPSEEK",
  apiKeyHelp: "Create one at platform.deepseek.com, under API keys.",
  reasoning: deepseekModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content", noSchemaOutput: true }),
      adjust: asMaxTokens,
    },
    messagesBeside(/(\/v1|\/beta)?$/, "/anthropic/v1"),
    responses,
    // Between a prompt and a suffix: "FIM Completion (Beta)", below a base URL of its own.
    { ...completions, rootOf: (root) => root.replace(/(\/v1|\/beta)?$/, "/beta") },
  ],
  starterModels: [{ name: "deepseek-flash" }, { name: "deepseek-v4-pro" }],
});
