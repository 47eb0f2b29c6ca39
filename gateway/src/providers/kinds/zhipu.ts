import { renameToMaxTokens } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import { zhipuModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, messagesAt, rerank } from "../standard-lanes.ts";

export const zhipu = defineKind({
  id: "zhipu",
  title: "Z.ai (Zhipu)",
  baseUrl: "https://api.z.ai/api/paas/v4",
  variable: "ZHIPU",
  baseUrlHelp:
    "For an account in China: https://open.bigmodel.cn/api/paas/v4. For a coding plan: https://api.z.ai/api/coding/paas/v4.",
  apiKeyHelp: "Create one at z.ai (in China: open.bigmodel.cn), under API keys.",
  reasoning: zhipuModels,
  lanes: [
    {
      ...chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content", noSchemaOutput: true }),
      adjust: renameToMaxTokens,
    },
    messagesAt(/(\/coding)?\/paas\/v4$/, "/anthropic/v1"),
    embeddings,
    { ...rerank, rootOf: (root) => root.replace(/\/coding\/paas\/v4$/, "/paas/v4") },
  ],
});
