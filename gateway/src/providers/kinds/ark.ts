import type { Lane } from "../kind.ts";
import { openaiLike } from "../openai-like.ts";
import { chatWith, embeddings, images, responses } from "../standard-lanes.ts";

const lanes: readonly Lane[] = [
  chatWith({ outputCapName: "max_tokens", reasoningField: "reasoning_content" }),
  responses,
  // Pictures to change are sent to where pictures are made.
  { ...images, traits: { editsWhereItMakes: true } },
  embeddings,
];

/** Ark's models are named per account (an endpoint id or a dated name), so none is offered at first start. */
export const ark = openaiLike({
  id: "ark",
  title: "Volcengine Ark",
  baseUrl: "https://ark.cn-beijing.volces.com/api/v3",
  variable: "ARK",
  lanes,
});

/** The same platform outside China, with accounts and keys of its own. */
export const byteplus = openaiLike({
  id: "byteplus",
  title: "BytePlus ModelArk",
  baseUrl: "https://ark.ap-southeast.bytepluses.com/api/v3",
  variable: "BYTEPLUS",
  lanes,
});
