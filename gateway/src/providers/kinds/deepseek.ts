import { renameToMaxTokens } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import { deepseekModels } from "../reasoning/vendor-models.ts";
import { chatWith, completions, messagesAt, responses } from "../standard-lanes.ts";

/**
 * Tool loops must send thoughts back as reasoning_content. Source: api-docs.deepseek.com, "Thinking Mode", "Using the
 * Anthropic API". Prices are for peak hours; off-peak costs half.
 */
export const deepseek = defineKind({
  id: "deepseek",
  title: "DeepSeek",
  baseUrl: "https://api.deepseek.com",
  variable: "DEEPSEEK",
  apiKeyHelp: "Create one at platform.deepseek.com, under API keys.",
  reasoning: deepseekModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content", noSchemaOutput: true }),
      adjust: renameToMaxTokens,
    },
    messagesAt(/(\/v1|\/beta)?$/, "/anthropic/v1"),
    responses,
    // "FIM Completion (Beta)".
    { ...completions, rootOf: (root) => root.replace(/(\/v1|\/beta)?$/, "/beta") },
  ],
  starterModels: [{ name: "deepseek-flash" }, { name: "deepseek-v4-pro" }],
});
