import { openaiLike } from "../openai-like.ts";
import { chatWith, embeddings, messagesBeside, responses } from "../standard-lanes.ts";

/** A key belongs to one region. Outside China: https://dashscope-intl.aliyuncs.com/compatible-mode/v1. */
export const dashscope = openaiLike({
  id: "dashscope",
  title: "Alibaba Cloud Model Studio (Qwen)",
  baseUrl: "https://dashscope.aliyuncs.com/compatible-mode/v1",
  variable: "DASHSCOPE",
  lanes: [
    chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
    messagesBeside(/\/compatible-mode\/v1$/, "/apps/anthropic/v1"),
    responses,
    embeddings,
  ],
});
