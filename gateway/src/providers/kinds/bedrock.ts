import type { HeaderReader, Provider } from "#core/index.ts";
import { arrayOf, asBuffer, editBody, type Warn } from "#protocols/index.ts";
import { awsAuthFields, awsAuthProblem, awsTokens } from "../aws-authentication.ts";
import { classifyAwsShaped, signAws } from "../aws-shaped.ts";
import { topLevelField } from "../chat-quirks.ts";
import { bedrockBetas, betasFor, parseBetas } from "../cloud-betas.ts";
import { defineKind } from "../define-kind.ts";
import type { OutboundDraft } from "../kind.ts";
import { authorizeBearer } from "../openai-shaped.ts";
import { bedrockFactors } from "../price-factors.ts";
import { claudeModels } from "../reasoning/claude-models.ts";
import { betasField, settingField, signingFields } from "../setting-field.ts";
import { nameProblem, pairProblem, settingText, withoutQuery } from "../settings.ts";
import { rerank } from "../standard-lanes.ts";

/**
 * Claude models use Anthropic's dialect (InvokeModel), all others Bedrock's (Converse), also inference profiles with opaque
 * names. The credential is an access key in the settings, a Bedrock key as `api_key`, or the identity of the machine.
 */
export const bedrock = defineKind({
  id: "bedrock",
  title: "Amazon Bedrock",
  baseUrl: null,
  baseUrlHelp: "Leave empty to use the region. For a VPC endpoint: its URL.",
  apiKey: "optional",
  apiKeyHelp: "A Bedrock API key. Leave empty to sign with an access key.",
  fields: [
    settingField("region", "Region", { required: true, placeholder: "us-east-1", setsDestination: true }),
    awsAuthFields.auth,
    ...signingFields("For an IAM user or role that may invoke models, without a Bedrock API key.", ["access_key"]),
    ...awsAuthFields.more,
    betasField,
  ],
  priceFactors: bedrockFactors,
  reasoning: claudeModels,
  lanes: [
    {
      endpoint: "messages",
      dialect: "anthropic-messages",
      // No image URLs (reference of InvokeModel for Claude) and no web search.
      traits: { fetchesUrls: false, noWebSearch: true },
      path: "/model/{model}/invoke",
      streamPath: "/model/{model}/invoke-with-response-stream",
      framing: "aws-event-stream",
      errorDialect: "bedrock-converse",
      fits: isClaude,
      adjust: adjustInvoke,
      walks: true,
    },
    {
      endpoint: "generate",
      dialect: "bedrock-converse",
      path: "/model/{model}/converse",
      streamPath: "/model/{model}/converse-stream",
      framing: "aws-event-stream",
      fits: (upstreamModel) =>
        !isClaude(upstreamModel) && !isTitan(upstreamModel) && !isCohere(upstreamModel) && !isRanker(upstreamModel),
    },
    {
      ...rerank,
      path: "/model/{model}/invoke",
      errorDialect: "bedrock-converse",
      fits: isRanker,
      adjust: adjustRerank,
    },
    {
      endpoint: "embeddings",
      dialect: "titan-embeddings",
      path: "/model/{model}/invoke",
      fits: isTitan,
      inputTokensIn,
    },
    {
      endpoint: "embeddings",
      dialect: "cohere-on-bedrock",
      path: "/model/{model}/invoke",
      fits: isCohere,
      inputTokensIn,
    },
  ],
  checkSettings,
  baseUrlOf: (provider) => {
    const region = settingText(provider, "region");
    return region === null ? null : `https://bedrock-runtime.${region}.amazonaws.com`;
  },
  tokens: awsTokens,
  authorize: (draft, options) => {
    if (options.token === null && draft.provider.secret !== null) return authorizeBearer(draft);
    return signAws(draft, "bedrock", options);
  },
  signsBody: true,
  listsModels: false,
  classify: classifyAwsShaped,
});

function checkSettings(provider: Provider): string | null {
  if (settingText(provider, "region") === null) return "settings.region must name the AWS region";
  return (
    nameProblem(provider, "region") ??
    pairProblem(provider, "access_key_id", "secret_access_key") ??
    awsAuthProblem(provider)
  );
}

/** Model ids, regional profile ids, and ARNs of either. */
function isClaude(upstreamModel: string): boolean {
  return /(^|[./])anthropic\.claude/.test(upstreamModel);
}

function isTitan(upstreamModel: string): boolean {
  return /(^|[./])amazon\.titan-embed/.test(upstreamModel);
}

function isCohere(upstreamModel: string): boolean {
  return /(^|[./])cohere\.embed/.test(upstreamModel);
}

function isRanker(upstreamModel: string): boolean {
  return /(^|[./])(cohere|amazon)\.rerank/.test(upstreamModel);
}

/** The path names the model, and Cohere's needs an API version. Source: Bedrock, "Inference parameters", Rerank. */
function adjustRerank(draft: OutboundDraft, warn?: Warn): void {
  const { body, upstreamModel } = draft;
  if (body === null) return;
  if (asBuffer(body).includes('"return_documents"'))
    warn?.("return_documents is not supported by the upstream and was dropped");
  const add = upstreamModel.includes("cohere.") ? { api_version: "2" } : {};
  draft.body = editBody(body, { remove: ["model", "user", "return_documents"], add });
}

/** Input tokens are in a header; Cohere's bodies lack them. */
function inputTokensIn(headers: HeaderReader): number | null {
  const text = headers.get("x-amzn-bedrock-input-token-count") ?? "";
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The path has the model and streaming, the body the version and the betas. */
function adjustInvoke(draft: OutboundDraft, warn?: Warn): void {
  const named = parseBetas(draft.headers["anthropic-beta"]);
  delete draft.headers["anthropic-version"];
  delete draft.headers["anthropic-beta"];
  draft.url = withoutQuery(draft.url);
  if (draft.body === null) return;
  const { provider, upstreamModel } = draft;
  const request = { provider, upstreamModel, named: [...named, ...betasOf(draft.body)], body: draft.body };
  const { betas, body } = betasFor(bedrockBetas, request, warn);
  draft.body = editBody(body ?? draft.body, {
    remove: ["model", "stream", "anthropic_beta"],
    add: {
      anthropic_version: '"bedrock-2023-05-31"',
      ...(betas.length === 0 ? {} : { anthropic_beta: JSON.stringify(betas) }),
    },
  });
}

/** Betas that the caller put into the body. */
function betasOf(body: Uint8Array): readonly string[] {
  const betas = arrayOf(topLevelField(body, "anthropic_beta"));
  return betas.filter((beta): beta is string => typeof beta === "string");
}
