import { defineKind } from "../define-kind.ts";
import { dashscopeModels } from "../reasoning/vendor-models.ts";
import { chatWith, embeddings, messagesAt, rerank, responses } from "../standard-lanes.ts";
import { classifyDashscope, wanVideo } from "../video/wan.ts";

export const dashscope = defineKind({
  id: "dashscope",
  title: "Alibaba Cloud Model Studio (Qwen)",
  baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
  variable: "DASHSCOPE",
  baseUrlHelp: "A key belongs to one region. Outside China: https://dashscope-intl.aliyuncs.com/compatible-mode/v1.",
  apiKeyHelp: "Create one in the console of Model Studio (Bailian), under API keys.",
  reasoning: dashscopeModels,
  lanes: [
    chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
    messagesAt(/\/compatible-mode\/v1$/, "/apps/anthropic/v1"),
    responses,
    embeddings,
    { ...rerank, path: "/reranks", rootOf: (root) => root.replace(/\/compatible-mode\/v1$/, "/compatible-api/v1") },
  ],
  video: wanVideo,
  classify: classifyDashscope,
});
