import { openaiLike } from "../openai-like.ts";
import {
  chat,
  countTokens,
  embeddings,
  generate,
  imageEdits,
  images,
  messages,
  responses,
  responsesCompact,
} from "../standard-lanes.ts";

/** The simulator inside this process: answers offline, so that a first call works without any provider. */
export const demo = openaiLike({
  id: "demo",
  title: "Built-in demo",
  baseUrl: "demo://simulator/v1",
  variable: null,
  lanes: [chat, responses, responsesCompact, messages, countTokens, generate, embeddings, images, imageEdits],
  starterModels: [{ name: "demo", input: 0, cacheRead: 0, output: 0 }],
});
