import type { Dialect } from "../dialect.ts";
import type { TaskStore } from "../task-store.ts";
import { anthropicCountTokens, anthropicMessages } from "./anthropic-messages.ts";
import { ThreadStore } from "./anthropic-threads.ts";
import { type ArkAccount, createArkAccounts, defaultArkAccounts } from "./ark-accounts.ts";
import { createArkAssetStore } from "./ark-asset-store.ts";
import { arkAssets } from "./ark-assets.ts";
import { arkLiveness, createLivenessSessions } from "./ark-liveness.ts";
import { arkTasks } from "./ark-tasks.ts";
import { azureChat } from "./azure-chat.ts";
import { bedrockConverse } from "./bedrock-converse.ts";
import { bedrockEmbeddings } from "./bedrock-embeddings.ts";
import { bedrockInvoke } from "./bedrock-invoke.ts";
import { bedrockRerank } from "./bedrock-rerank.ts";
import { dashScopeVideos } from "./dashscope-videos.ts";
import { decisions } from "./decisions.ts";
import { fal } from "./fal.ts";
import { files } from "./files.ts";
import { gemini } from "./gemini.ts";
import { geminiInteractions, geminiInteractionsStored } from "./gemini-interactions.ts";
import { googleEmbeddings } from "./google-embeddings.ts";
import { createInteractionStore } from "./interactions-store.ts";
import { defaultKlingKeys, kling } from "./kling.ts";
import { miniMaxVideos } from "./minimax-videos.ts";
import { mistralFim } from "./mistral-fim.ts";
import { oauthToken } from "./oauth-token.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiCompletions } from "./openai-completions.ts";
import { openAiEmbeddings } from "./openai-embeddings.ts";
import { openAiImages } from "./openai-images.ts";
import { openAiModerations } from "./openai-moderations.ts";
import { openAiResponses } from "./openai-responses.ts";
import { openAiResponsesCompact, openAiResponsesCount } from "./openai-responses-compact.ts";
import { openAiResponsesStored } from "./openai-responses-stored.ts";
import { openAiSpeech } from "./openai-speech.ts";
import { openAiTranscriptions } from "./openai-transcriptions.ts";
import { openAiVideos } from "./openai-videos.ts";
import { replicate } from "./replicate.ts";
import { rerank } from "./rerank.ts";
import { createResponseStore } from "./responses-store.ts";
import { runway } from "./runway.ts";
import type { VendorFiles } from "./vendor-files.ts";
import { veo } from "./veo.ts";
import { vertexAnthropic } from "./vertex-anthropic.ts";
import { vidu } from "./vidu.ts";

export interface DialectOptions {
  readonly awsSecret?: string;
  readonly googlePublicKey?: string;
  readonly arkAccounts?: Readonly<Record<string, ArkAccount>>;
  readonly klingKeys?: Readonly<Record<string, string>>;
  readonly filesUrl?: string;
}

/** All dialects of a simulator with their state. The first match serves a request. A new dialect is a file and a line here. */
export function createDialects(
  options: DialectOptions,
  taskStore: TaskStore,
  vendorFiles: VendorFiles,
): readonly Dialect[] {
  const store = createResponseStore();
  const interactions = createInteractionStore();
  const accounts = createArkAccounts(options.arkAccounts ?? defaultArkAccounts);
  const assets = createArkAssetStore(accounts);
  const sessions = createLivenessSessions();
  return [
    azureChat,
    openAiChat,
    anthropicMessages(new ThreadStore()),
    anthropicCountTokens,
    openAiResponses(store),
    openAiResponsesCompact(store),
    openAiResponsesCount(store),
    openAiResponsesStored(store),
    gemini,
    geminiInteractions(interactions),
    geminiInteractionsStored(interactions),
    vertexAnthropic,
    googleEmbeddings,
    bedrockEmbeddings(options.awsSecret),
    bedrockRerank(options.awsSecret),
    bedrockInvoke(options.awsSecret),
    bedrockConverse(options.awsSecret),
    openAiImages,
    mistralFim,
    openAiCompletions,
    openAiEmbeddings,
    rerank,
    openAiModerations,
    decisions,
    openAiSpeech,
    openAiTranscriptions,
    oauthToken(options.googlePublicKey ?? null),
    arkTasks({ taskStore, accounts, assets }),
    arkAssets({ taskStore, accounts, assets, sessions, filesUrl: options.filesUrl ?? null }),
    arkLiveness(sessions),
    files(taskStore),
    fal(taskStore),
    // Kling's paths end like OpenAI's, and DashScope's task paths like Runway's, so the more specific ones come first.
    kling(taskStore, options.klingKeys ?? defaultKlingKeys),
    openAiVideos(taskStore, vendorFiles),
    veo(taskStore),
    dashScopeVideos(taskStore),
    miniMaxVideos(taskStore),
    vidu(taskStore),
    runway(taskStore),
    replicate(taskStore),
  ];
}
