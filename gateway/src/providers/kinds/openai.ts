import { openaiLike } from "../openai-like.ts";
import { chat, embeddings, imageEdits, images, responses, responsesCompact } from "../standard-lanes.ts";
import { plainRoot } from "../video/root.ts";
import { soraVideo } from "../video/sora.ts";

export const openai = openaiLike({
  id: "openai",
  title: "OpenAI",
  baseUrl: "https://api.openai.com/v1",
  variable: "OPENAI",
  form: {
    apiKeyHelp: "Make one at platform.openai.com, under API keys.",
  },
  lanes: [responses, responsesCompact, chat, embeddings, images, imageEdits],
  video: soraVideo(plainRoot),
  starterModels: [
    { name: "gpt-5", input: 1.25, cacheRead: 0.125, output: 10 },
    { name: "gpt-5-mini", input: 0.25, cacheRead: 0.025, output: 2 },
    { name: "gpt-5-nano", input: 0.05, cacheRead: 0.005, output: 0.4 },
    { name: "gpt-4.1", input: 2, cacheRead: 0.5, output: 8 },
    { name: "gpt-4o-mini", input: 0.15, cacheRead: 0.075, output: 0.6 },
  ],
});
