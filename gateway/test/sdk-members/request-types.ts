/** Request types of the official SDKs in their wire form: `<vendor>_<endpoint>`. */
export const requestTypes = `
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type * as Genai from "@google/genai";

export type openai_chat = OpenAI.ChatCompletionCreateParams;
export type openai_completions = OpenAI.CompletionCreateParams;
export type openai_responses = OpenAI.Responses.ResponseCreateParams;
export type openai_beta_responses = OpenAI.Beta.Responses.ResponseCreateParams;
export type openai_input_tokens = OpenAI.Responses.InputTokenCountParams;
export type openai_compact = OpenAI.Responses.ResponseCompactParams;
export type openai_embeddings = OpenAI.EmbeddingCreateParams;
export type openai_images = OpenAI.ImageGenerateParams;
export type openai_image_edits = Omit<OpenAI.ImageEditParams, "image" | "mask" | "markup">;
export type openai_speech = OpenAI.Audio.SpeechCreateParams;
export type openai_transcriptions = Omit<OpenAI.Audio.TranscriptionCreateParams, "file">;
export type openai_translations = Omit<OpenAI.Audio.TranslationCreateParams, "file">;
export type openai_moderations = OpenAI.ModerationCreateParams;
export type openai_decisions = OpenAI.DecisionCreateParams;
export type openai_videos = OpenAI.VideoCreateParams;
export type openai_video_remix = OpenAI.VideoRemixParams;

export type anthropic_messages = Anthropic.MessageCreateParams;
export type anthropic_count_tokens = Anthropic.MessageCountTokensParams;
export type anthropic_beta_messages = Anthropic.Beta.Messages.MessageCreateParams;
export type anthropic_beta_count_tokens = Anthropic.Beta.Messages.MessageCountTokensParams;

type Config = Genai.GenerateContentConfig;
/** Members of a config at the top level of the body, next to \`contents\` and \`generationConfig\`. */
type Top = "systemInstruction" | "safetySettings" | "tools" | "toolConfig" | "labels" | "cachedContent" | "serviceTier"
  | "modelArmorConfig" | "store" | "continuationToken";
/** Members inside \`generationConfig\` that its type does not have. */
type Nested = "imageConfig" | "generationOutputConfig";
/** Members that the SDK does not send. */
type Own = "httpOptions" | "abortSignal" | "shouldReturnHttpResponse" | "automaticFunctionCalling" | "automaticContinuation";
type Generation = Genai.GenerationConfig & Pick<Config, Nested>;
export type google_generate = { contents: Genai.Content[]; generationConfig?: Generation } & Pick<Config, Top>;
/** Empty, unless a release moves a member. */
export type google_config = Omit<Config, Top | Nested | Own | keyof Genai.GenerationConfig>;
export type google_embed = { content: Genai.Content } & Omit<Genai.EmbedContentConfig, "httpOptions" | "abortSignal">;

export type interactions_model = Genai.Interactions.CreateModelInteractionParamsNonStreaming;
export type interactions_agent = Genai.Interactions.CreateAgentInteractionParamsNonStreaming;
`;

/** The tools of each endpoint. */
export const toolTypes = `
import type OpenAI from "openai";
import type Anthropic from "@anthropic-ai/sdk";
import type * as Genai from "@google/genai";

export type responses = OpenAI.Responses.Tool | OpenAI.Beta.Responses.BetaTool;
export type chat = OpenAI.ChatCompletionTool;
export type messages = Anthropic.ToolUnion | Anthropic.Beta.BetaToolUnion;
export type google = Genai.Tool;
export type interactions = Genai.Interactions.Tool;
`;
