/** What models are for. What a model is called by is said by its endpoints; the type says where people look for it. */
const modelTypeLabels = {
  chat: "Chat",
  completion: "Completion",
  image: "Image",
  video: "Video",
  embedding: "Embedding",
  rerank: "Rerank",
  moderation: "Moderation",
  transcription: "Transcription",
  speech: "Speech",
} as const;
export type ModelTypeName = keyof typeof modelTypeLabels;
export const modelTypes = Object.keys(modelTypeLabels) as readonly ModelTypeName[];

export interface ModelEndpointRow {
  readonly path: string;
  /** To a reader. */
  readonly label: string;
  /** Models of which types are called here, as far as an upstream of theirs can be. */
  readonly types: readonly ModelTypeName[];
}

/**
 * The endpoints at which a model is called with a body, once: by their names in ledger, metrics and `settings.endpoints`, in
 * the order in which a model tells them.
 */
export const modelEndpoints = {
  chat: { path: "/v1/chat/completions", label: "Chat completions", types: ["chat"] },
  messages: { path: "/v1/messages", label: "Messages", types: ["chat"] },
  "count-tokens": { path: "/v1/messages/count_tokens", label: "Count tokens", types: [] },
  responses: { path: "/v1/responses", label: "Responses", types: ["chat"] },
  "responses-compact": { path: "/v1/responses/compact", label: "Compact responses", types: ["chat"] },
  "input-tokens": { path: "/v1/responses/input_tokens", label: "Count input tokens", types: [] },
  generate: { path: "/v1beta/models/{model}:generateContent", label: "Generate content", types: ["chat"] },
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
  transcriptions: { path: "/v1/audio/transcriptions", label: "Transcriptions", types: ["transcription"] },
  translations: { path: "/v1/audio/translations", label: "Translations", types: ["transcription"] },
  speech: { path: "/v1/audio/speech", label: "Speech", types: ["speech"] },
} as const satisfies Readonly<Record<string, ModelEndpointRow>>;

export type ModelEndpointId = keyof typeof modelEndpoints;
