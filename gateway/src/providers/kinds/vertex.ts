import type { Provider } from "#core/index.ts";
import { editBody, innerRequest, type Warn } from "#protocols/index.ts";
import { betasFor, parseBetas, vertexBetas } from "../cloud-betas.ts";
import { defineKind } from "../define-kind.ts";
import { googleAuthField, googleTokens } from "../google-authentication.ts";
import { classifyGoogleShaped } from "../google-shaped.ts";
import type { AuthorizeOptions, OutboundDraft } from "../kind.ts";
import { googleFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { betasField, settingField } from "../setting-field.ts";
import { nameProblem, settingText, withoutQuery } from "../settings.ts";
import { countTokens, embedContent, geminiCountTokens, generate, messages } from "../standard-lanes.ts";
import { veoOnVertex } from "../video/veo.ts";

const google = "/publishers/google";
const claude = "/publishers/anthropic/models";

/**
 * Google's and Anthropic's models on Google Cloud. `settings.location` defaults to global. `api_key` is the JSON key of a
 * service account or external account, or an access token.
 */
export const vertex = defineKind({
  id: "vertex",
  title: "Google Vertex AI",
  baseUrl: null,
  baseUrlHelp: "Leave empty to use the location.",
  apiKeyHelp: "The JSON key of a service account, the JSON of an external account, or an access token.",
  fields: [
    settingField("project", "Project", { required: true, help: "Its ID.", placeholder: "my-project-123456" }),
    settingField("location", "Location", {
      help: "Default: global.",
      placeholder: "us-central1",
      setsDestination: true,
    }),
    googleAuthField,
    settingField("storage_uri", "Video bucket", { placeholder: "gs://bucket/prefix" }),
    betasField,
  ],
  priceFactors: googleFactors,
  reasoning: claudeModels,
  lanes: [
    {
      ...generate,
      path: google + generate.path,
      streamPath: `${google}${generate.streamPath ?? ""}`,
      fits: generates,
      // "Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field."
      traits: { noCallIds: true },
    },
    { ...geminiCountTokens, path: google + geminiCountTokens.path, fits: generates, adjust: adjustCount },
    {
      ...messages,
      path: `${claude}/{model}:rawPredict`,
      streamPath: `${claude}/{model}:streamRawPredict`,
      errorDialect: "gemini",
      fits: isClaude,
      adjust: (draft, warn) => adjustMessages(draft, ["model"], warn),
      walks: true,
    },
    {
      ...countTokens,
      path: `${claude}/count-tokens:rawPredict`,
      errorDialect: "gemini",
      fits: isClaude,
      adjust: (draft, warn) => adjustMessages(draft, [], warn),
      walks: true,
    },
    {
      endpoint: "embeddings",
      dialect: "vertex-predict",
      path: `${google}/models/{model}:predict`,
      fits: (model) => isEmbedder(model) && !takesContent(model),
    },
    { ...embedContent, path: google + embedContent.path, fits: takesContent },
    { endpoint: "images", dialect: "gemini", path: google + generate.path, fits: generates },
  ],
  checkSettings: (provider) => {
    if (settingText(provider, "project") === null) return "settings.project must name the Google Cloud project";
    const wrong = nameProblem(provider, "project") ?? nameProblem(provider, "location");
    return wrong ?? storageProblem(provider);
  },
  baseUrlOf: (provider) => hostOf(locationOf(provider)),
  rootOf: vertexRoot,
  video: veoOnVertex(vertexRoot),
  tokens: googleTokens,
  authorize: ({ provider, headers }: OutboundDraft, { token }: AuthorizeOptions) => {
    const bearer = token ?? provider.secret?.reveal();
    if (typeof bearer === "string") headers["authorization"] = `Bearer ${bearer}`;
  },
  listsModels: false,
  classify: classifyGoogleShaped,
});

function vertexRoot(provider: Provider): string {
  const base = provider.baseUrl.replace(/\/+$/, "");
  if (base.includes("/projects/")) return base;
  const version = /\/v\d[a-z0-9]*$/.test(base) ? base : `${base}/v1`;
  return `${version}/projects/${settingText(provider, "project") ?? ""}/locations/${locationOf(provider)}`;
}

/** The body has Anthropic's version, the path the model. Betas stay in their header. */
function adjustMessages(draft: OutboundDraft, remove: readonly string[], warn?: Warn): void {
  const { provider, upstreamModel } = draft;
  const named = parseBetas(draft.headers["anthropic-beta"]);
  const { betas, body } = betasFor(vertexBetas, { provider, upstreamModel, named, body: draft.body }, warn);
  if (betas.length === 0) delete draft.headers["anthropic-beta"];
  else draft.headers["anthropic-beta"] = betas.join();
  delete draft.headers["anthropic-version"];
  draft.url = withoutQuery(draft.url);
  if (body === null) return;
  draft.body = editBody(body, { remove, add: { anthropic_version: '"vertex-2023-10-16"' } });
}

/** The prompt is at the top of the body. Source: Vertex AI reference, countTokens. */
function adjustCount(draft: OutboundDraft): void {
  if (draft.body !== null) draft.body = editBody(innerRequest(draft.body), { remove: notCounted });
}

const notCounted = [
  "model",
  "toolConfig",
  "tool_config",
  "safetySettings",
  "safety_settings",
  "cachedContent",
  "cached_content",
  "labels",
];

function storageProblem(provider: Provider): string | null {
  const uri = provider.settings["storage_uri"];
  if (uri === undefined || (typeof uri === "string" && /^gs:\/\/[a-z0-9][a-z0-9._-]+(\/.*)?$/.test(uri))) return null;
  return "settings.storage_uri must name a bucket, as gs://bucket/prefix";
}

function locationOf(provider: Provider): string {
  return settingText(provider, "location") ?? "global";
}

function hostOf(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  // Multi-regions have another host name.
  if (location === "us" || location === "eu") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

function isClaude(upstreamModel: string): boolean {
  return upstreamModel.startsWith("claude");
}

function generates(upstreamModel: string): boolean {
  return !isClaude(upstreamModel) && !isEmbedder(upstreamModel);
}

function isEmbedder(upstreamModel: string): boolean {
  return /embedding/.test(upstreamModel);
}

/** From gemini-embedding-2 on, embedding models use embedContent. */
function takesContent(upstreamModel: string): boolean {
  return upstreamModel.startsWith("gemini-embedding-") && !upstreamModel.startsWith("gemini-embedding-001");
}
