import { openaiBatches } from "../batches/openai-batches.ts";
import { dropBase64Format } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import { openaiFactors } from "../price-factors.ts";
import { openaiModels } from "../reasoning/openai-models.ts";
import {
  chat,
  completions,
  decisions,
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
import { plainRoot } from "../video/requests.ts";
import { soraVideo } from "../video/sora.ts";
import { authorizeOpenai, openaiAuthFields, openaiAuthProblem, openaiTokens } from "../workload-identity.ts";

/** Models for completions; all others are for chat. */
const completionModels = /^(?:ft:)?(?:gpt-3\.5-turbo-instruct|davinci-002|babbage-002)/;

export const openai = defineKind({
  id: "openai",
  title: "OpenAI",
  baseUrl: "https://api.openai.com/v1",
  variable: "OPENAI",
  apiKeyHelp: "Create one at platform.openai.com, under API keys.",
  fields: openaiAuthFields,
  tokens: openaiTokens,
  authorize: authorizeOpenai,
  checkSettings: openaiAuthProblem,
  reasoning: openaiModels,
  priceFactors: openaiFactors,
  lanes: [
    responses,
    responsesCompact,
    inputTokens,
    chat,
    { ...completions, fits: (model) => completionModels.test(model) },
    embeddings,
    { ...images, adjust: dropBase64Format },
    imageEdits,
    moderations,
    decisions,
    transcriptions,
    translations,
    speech,
  ],
  batches: openaiBatches,
  video: soraVideo(plainRoot),
  // https://developers.openai.com/api/docs/pricing, read on 2026-11-22: beyond 272,000 input tokens the whole request costs more.
  starterModels: [{ name: "gpt-6.1-sol" }, { name: "gpt-6.1-terra" }, { name: "gpt-6-luna" }],
});
