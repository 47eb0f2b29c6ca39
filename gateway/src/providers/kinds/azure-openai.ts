import { Failure, type Provider } from "#core/index.ts";
import { authorizeAzure, azureAuthFields, azureAuthProblem, azureTokens } from "../azure-authentication.ts";
import { dropBase64Format } from "../chat-quirks.ts";
import { defineKind } from "../define-kind.ts";
import type { BadAnswer, Lane, OutboundDraft } from "../kind.ts";
import { classifyOpenAiShaped, openaiErrorCode } from "../openai-shaped.ts";
import { openaiFactors } from "../price-factors.ts";
import { openaiModels } from "../reasoning/openai-models.ts";
import { settingField } from "../setting-field.ts";
import { nameProblem, settingText } from "../settings.ts";
import {
  chat,
  completions,
  embeddings,
  imageEdits,
  images,
  inputTokens,
  rerank,
  responses,
  responsesCompact,
  speech,
  transcriptions,
  translations,
} from "../standard-lanes.ts";
import { soraVideo } from "../video/sora.ts";

/**
 * The v1 API, or the dated one if `settings.api_version` is set, whose paths name the deployment. A model's upstream name
 * is its deployment's.
 */
export const azureOpenai = defineKind({
  id: "azure-openai",
  title: "Azure OpenAI",
  baseUrl: null,
  baseUrlHelp:
    "The resource's endpoint, such as https://NAME.openai.azure.com. Leave empty to use the resource's name.",
  apiKeyHelp: "Key 1 or key 2 of the resource, under Keys and Endpoint.",
  fields: [
    settingField("resource", "Resource", {
      help: "The name before .openai.azure.com. Required without a base URL.",
      placeholder: "my-resource",
      setsDestination: true,
    }),
    settingField("api_version", "API version", {
      help: "The version of the dated API, such as 2024-10-21. Leave empty for the v1 API.",
      placeholder: "2024-10-21",
    }),
    ...azureAuthFields,
  ],
  priceFactors: openaiFactors,
  // Microsoft's model router picks the model.
  routers: /router/i,
  reasoning: openaiModels,
  lanes: [
    { ...responses, adjust: dated(responses, false) },
    { ...responsesCompact, adjust: dated(responsesCompact, false) },
    { ...inputTokens, adjust: dated(inputTokens, false) },
    { ...chat, adjust: dated(chat, true) },
    { ...completions, adjust: dated(completions, true), onlyWhenNamed: true },
    { ...embeddings, adjust: dated(embeddings, true) },
    // Cohere's models have no dated API. Source: Microsoft Foundry, "Cohere Rerank".
    { ...rerank, rootOf: cohereRoot },
    { ...transcriptions, adjust: dated(transcriptions, true) },
    { ...translations, adjust: dated(translations, true) },
    { ...speech, adjust: dated(speech, true) },
    {
      ...images,
      adjust: (draft) => {
        dated(images, true)(draft);
        dropBase64Format(draft);
      },
    },
    { ...imageEdits, adjust: dated(imageEdits, true) },
  ],
  checkSettings: (provider) =>
    nameProblem(provider, "resource") ?? nameProblem(provider, "api_version") ?? azureAuthProblem(provider),
  baseUrlOf: (provider) => {
    const resource = settingText(provider, "resource");
    return resource === null ? null : `https://${resource}.openai.azure.com/openai/v1`;
  },
  rootOf: versionedRoot,
  video: soraVideo(versionedRoot),
  tokens: azureTokens,
  authorize: authorizeAzure,
  classify: classifyAzure,
});

function versionedRoot(provider: Provider): string {
  return `${surfaceOf(provider)}/v1`;
}

/** Everything up to /openai: operators set the host, one of the APIs, or a deployment's URL. */
function surfaceOf({ baseUrl }: Provider): string {
  const cut = baseUrl.indexOf("/openai", baseUrl.indexOf("://") + 3);
  return cut === -1 ? `${baseUrl.replace(/\/+$/, "")}/openai` : baseUrl.slice(0, cut + "/openai".length);
}

function cohereRoot(root: string): string {
  const host = root.replace(/\/openai(\/.*)?$/, "");
  const foundry = host.replace(/\.(openai|cognitiveservices)\.azure\.com$/, ".services.ai.azure.com");
  return `${foundry}/providers/cohere/v2`;
}

/** The dated URL of a lane. Responses have the model in the body, other endpoints in the path. */
function dated(lane: Lane, byDeployment: boolean): (draft: OutboundDraft) => void {
  return (draft) => {
    const version = settingText(draft.provider, "api_version");
    if (version === null) return;
    const deployment = byDeployment ? `/deployments/${encodeURIComponent(draft.upstreamModel)}` : "";
    draft.url = `${surfaceOf(draft.provider)}${deployment}${lane.path}?api-version=${version}`;
  };
}

/** Not retried: another account would bypass the content filter. */
function classifyAzure(answer: BadAnswer): Failure {
  if (answer.status !== 400 || openaiErrorCode(answer.body) !== "content_filter") return classifyOpenAiShaped(answer);
  const contentType = answer.headers.get("content-type") ?? "application/json";
  return new Failure("upstream_error", "The provider's content filter refused the prompt.", {
    retry: "never",
    arrival: "refused",
    upstream: { status: 400, contentType, body: answer.body },
  });
}
