import type { Provider } from "#core/index.ts";
import { editBody, innerRequest, type Warn } from "#protocols/index.ts";
import { namedBetas, sentBetas, vertexBetas } from "../cloud-betas.ts";
import { classifyGoogleShaped } from "../google-shaped.ts";
import { googleTokens } from "../google-tokens.ts";
import type { AuthorizeOptions, OutboundDraft, ProviderKind } from "../kind.ts";
import { googleFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { betasField, settingField } from "../setting-field.ts";
import { nameProblem, settingText, withoutQuery } from "../settings.ts";
import { countTokens, embedContent, geminiCountTokens, generate, messages } from "../standard-lanes.ts";
import { veoOnVertex } from "../video/veo.ts";

const google = "/publishers/google";
const claude = "/publishers/anthropic/models";

/**
 * Google's models and Anthropic's by way of Google Cloud. `settings.project` says whose, `settings.location` where
 * (default global); `api_key` is a service account's key, as the JSON text it is given out as, or an access token.
 */
export const vertex: ProviderKind = {
  id: "vertex",
  title: "Google Vertex AI",
  baseUrl: null,
  envKey: null,
  envBaseUrl: null,
  baseUrlHelp: "Leave it empty: the location says where.",
  apiKeyHelp: "A service account's key, as the whole JSON text it is given out as; or an access token.",
  fields: [
    settingField("project", "Project", { required: true, help: "Its ID.", placeholder: "my-project-123456" }),
    settingField("location", "Location", { help: "Default: global.", placeholder: "us-central1", leads: true }),
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
    { ...geminiCountTokens, path: google + geminiCountTokens.path, fits: generates, adjust: asVertexCounts },
    {
      ...messages,
      path: `${claude}/{model}:rawPredict`,
      streamPath: `${claude}/{model}:streamRawPredict`,
      errorDialect: "gemini",
      fits: isClaude,
      adjust: (draft, warn) => asVertexTakes(draft, ["model"], warn),
      walks: true,
    },
    {
      ...countTokens,
      path: `${claude}/count-tokens:rawPredict`,
      errorDialect: "gemini",
      fits: isClaude,
      adjust: (draft, warn) => asVertexTakes(draft, [], warn),
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
    if (bearer !== undefined) headers["authorization"] = `Bearer ${bearer}`;
  },
  listsModels: false,
  classify: classifyGoogleShaped,
  starterModels: [],
};

function vertexRoot(provider: Provider): string {
  const base = provider.baseUrl.replace(/\/+$/, "");
  if (base.includes("/projects/")) return base;
  const version = /\/v\d[a-z0-9]*$/.test(base) ? base : `${base}/v1`;
  return `${version}/projects/${settingText(provider, "project") ?? ""}/locations/${locationOf(provider)}`;
}

/** Anthropic's version stands in the body here, and the model in the path. Betas stay in their header. */
function asVertexTakes(draft: OutboundDraft, remove: readonly string[], warn?: Warn): void {
  const { provider, upstreamModel } = draft;
  const named = namedBetas(draft.headers["anthropic-beta"]);
  const { betas, body } = sentBetas(vertexBetas, { provider, upstreamModel, named, body: draft.body }, warn);
  if (betas.length === 0) delete draft.headers["anthropic-beta"];
  else draft.headers["anthropic-beta"] = betas.join();
  delete draft.headers["anthropic-version"];
  draft.url = withoutQuery(draft.url);
  if (body === null) return;
  draft.body = editBody(body, { remove, add: { anthropic_version: '"vertex-2023-10-16"' } });
}

/** Here a prompt stands in the body itself, with nothing beside it that is not counted. Source: Vertex AI reference, countTokens. */
function asVertexCounts(draft: OutboundDraft): void {
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
  // The multi-regions have hosts of another form.
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

/** Embedders from gemini-embedding-2 on read more than texts, and are called so. */
function takesContent(upstreamModel: string): boolean {
  return upstreamModel.startsWith("gemini-embedding-") && !upstreamModel.startsWith("gemini-embedding-001");
}
