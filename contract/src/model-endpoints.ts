/** Model types, for lists and filters. How a model can be called depends on its endpoints, not on its type. */
const modelTypeLabels = {
  chat: "Chat",
  completion: "Completion",
  image: "Image",
  video: "Video",
  embedding: "Embedding",
  rerank: "Rerank",
  moderation: "Moderation",
  decision: "Decision",
  transcription: "Transcription",
  speech: "Speech",
} as const;
export type ModelTypeName = keyof typeof modelTypeLabels;
export const modelTypes = Object.keys(modelTypeLabels) as readonly ModelTypeName[];

export interface ModelEndpointRow {
  readonly path: string;
  /** Display name. */
  readonly label: string;
  /** Types of the models that can be called here, if their upstream supports it. */
  readonly types: readonly ModelTypeName[];
}

/**
 * The endpoints that call a model with a request body, by their names in the ledger, in metrics and in `settings.endpoints`.
 * A model lists its endpoints in this order.
 */
export const modelEndpoints = {
  chat: { path: "/v1/chat/completions", label: "Chat completions", types: ["chat"] },
  messages: { path: "/v1/messages", label: "Messages", types: ["chat"] },
  "count-tokens": { path: "/v1/messages/count_tokens", label: "Count tokens", types: [] },
  responses: { path: "/v1/responses", label: "Responses", types: ["chat"] },
  "responses-compact": { path: "/v1/responses/compact", label: "Compact responses", types: ["chat"] },
  "input-tokens": { path: "/v1/responses/input_tokens", label: "Count input tokens", types: [] },
  generate: { path: "/v1beta/models/{model}:generateContent", label: "Generate content", types: ["chat"] },
  interactions: { path: "/v1beta/interactions", label: "Interactions", types: ["chat"] },
  "gemini-count-tokens": {
    path: "/v1beta/models/{model}:countTokens",
    label: "Count tokens (Gemini)",
    types: [],
  },
  completions: { path: "/v1/completions", label: "Completions", types: ["chat", "completion"] },
  images: { path: "/v1/images/generations", label: "Images", types: ["image"] },
  "image-edits": { path: "/v1/images/edits", label: "Image edits", types: ["image"] },
  embeddings: { path: "/v1/embeddings", label: "Embeddings", types: ["embedding"] },
  "embed-content": {
    path: "/v1beta/models/{model}:embedContent",
    label: "Embed content",
    types: ["embedding"],
  },
  "batch-embed-contents": {
    path: "/v1beta/models/{model}:batchEmbedContents",
    label: "Embed contents",
    types: ["embedding"],
  },
  rerank: { path: "/v1/rerank", label: "Rerank", types: ["rerank"] },
  moderations: { path: "/v1/moderations", label: "Moderations", types: ["moderation"] },
  decisions: { path: "/v1/decisions", label: "Decisions", types: ["decision"] },
  "gemini-decisions": { path: "/v1beta/decisions", label: "Decisions (Gemini)", types: ["decision"] },
  transcriptions: { path: "/v1/audio/transcriptions", label: "Transcriptions", types: ["transcription"] },
  translations: { path: "/v1/audio/translations", label: "Translations", types: ["transcription"] },
  speech: { path: "/v1/audio/speech", label: "Speech", types: ["speech"] },
} as const satisfies Readonly<Record<string, ModelEndpointRow>>;

export type ModelEndpointId = keyof typeof modelEndpoints;
