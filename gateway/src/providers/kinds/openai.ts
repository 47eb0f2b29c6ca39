import { withoutBase64Asked } from "../image-quirks.ts";
import { openaiLike } from "../openai-like.ts";
import { openaiFactors } from "../price-factors.ts";
import { openaiModels } from "../reasoning/openai-models.ts";
import {
  chat,
  completions,
  embeddings,
  imageEdits,
  images,
  inputTokens,
  moderations,
  responses,
  responsesCompact,
  speech,
  transcriptions,
  translations,
} from "../standard-lanes.ts";
import { plainRoot } from "../video/root.ts";
import { soraVideo } from "../video/sora.ts";

/** Those that go on from a prompt; all others talk. */
const oldModels = /^(?:ft:)?(?:gpt-3\.5-turbo-instruct|davinci-002|babbage-002)/;

export const openai = openaiLike({
  id: "openai",
  title: "OpenAI",
  baseUrl: "https://api.openai.com/v1",
  variable: "OPENAI",
  form: {
    apiKeyHelp: "Create one at platform.openai.com, under API keys.",
  },
  reasoning: openaiModels,
  priceFactors: openaiFactors,
  lanes: [
    responses,
    responsesCompact,
    inputTokens,
    chat,
    { ...completions, fits: (model) => oldModels.test(model) },
    embeddings,
    { ...images, adjust: withoutBase64Asked },
    imageEdits,
    moderations,
    transcriptions,
    translations,
    speech,
  ],
  video: soraVideo(plainRoot),
  // https://developers.openai.com/api/docs/pricing, read on 2026-11-22: beyond 272,000 input tokens the whole request costs more.
  starterModels: [
    {
      name: "gpt-6.1-sol",
      input: 2,
      cacheRead: 0.1,
      cacheWrite: [2.5, 5],
      output: 10,
      longContext: { above: 272_000, input: 4, cache_read: 0.2, cache_write_5m: 5, cache_write_1h: 10, output: 15 },
    },
    {
      name: "gpt-6.1-terra",
      input: 1,
      cacheRead: 0.05,
      cacheWrite: [1.25, 2.5],
      output: 5,
      longContext: { above: 272_000, input: 2, cache_read: 0.1, cache_write_5m: 2.5, cache_write_1h: 5, output: 7.5 },
    },
    {
      name: "gpt-6-luna",
      input: 0.1,
      cacheRead: 0.01,
      cacheWrite: [0.125, 0.125],
      output: 0.5,
      longContext: {
        above: 272_000,
        input: 0.2,
        cache_read: 0.02,
        cache_write_5m: 0.25,
        cache_write_1h: 0.25,
        output: 0.75,
      },
    },
  ],
});
