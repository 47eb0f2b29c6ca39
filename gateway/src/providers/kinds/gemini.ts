import type { Provider } from "#core/index.ts";
import { isAgent } from "#protocols/index.ts";
import { geminiBatches } from "../batches/gemini-batches.ts";
import { defineKind } from "../define-kind.ts";
import { authorizeGoogleKey, classifyGoogleShaped } from "../google-shaped.ts";
import { googleFactors } from "../price-factors.ts";
import { withDefaultPath } from "../settings.ts";
import {
  batchEmbedContents,
  chat,
  embedContent,
  embeddings,
  geminiCountTokens,
  geminiDecisions,
  generate,
  interactions,
} from "../standard-lanes.ts";
import { veoVideo } from "../video/veo.ts";

/** Images use generateContent. Chat completions are below /openai. */
export const gemini = defineKind({
  id: "gemini",
  title: "Google Gemini",
  baseUrl: "https://generativelanguage.googleapis.com/v1beta",
  variable: "GEMINI",
  apiKeyHelp: "Create one at aistudio.google.com, under API keys.",
  priceFactors: googleFactors,
  lanes: [
    { ...generate, fits: isModel },
    interactions,
    geminiDecisions,
    geminiCountTokens,
    {
      ...chat,
      path: "/openai/chat/completions",
      errorDialect: "gemini",
      traits: { usage: { reasoning: "total" } },
      fits: isModel,
    },
    embedContent,
    batchEmbedContents,
    { ...embeddings, path: "/openai/embeddings", errorDialect: "gemini" },
    { endpoint: "images", dialect: "gemini", path: generate.path },
  ],
  rootOf: geminiRoot,
  uploadsBesideVersion: true,
  modelsQuery: "pageSize=1000",
  video: veoVideo(geminiRoot),
  batches: geminiBatches,
  authorize: authorizeGoogleKey,
  classify: classifyGoogleShaped,
  // https://ai.google.dev/gemini-api/docs/pricing, read on 2026-11-22. Until the end of 2026 3.8 Flash costs half of this.
  starterModels: [{ name: "gemini-3.8-flash" }, { name: "gemini-3.5-flash-lite" }],
});

/** Agents are served by Interactions alone. Source: @google/genai, AgentOption. */
function isModel(upstreamModel: string): boolean {
  return !isAgent(upstreamModel);
}

/** Also accepts the URL of the OpenAI-compatible API, which some documents show. */
function geminiRoot(provider: Provider): string {
  return withDefaultPath(provider, "/v1beta").replace(/(\/openai)?\/*$/, "");
}
