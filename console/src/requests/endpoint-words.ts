/** Endpoints as the ledger names them, and what they are to a reader. */
export const endpointWords: Readonly<Record<string, string>> = {
  chat: "Chat completions",
  messages: "Messages",
  "count-tokens": "Count tokens",
  responses: "Responses",
  "responses-compact": "Compact responses",
  generate: "Generate content",
  images: "Images",
  "image-edits": "Image edits",
  embeddings: "Embeddings",
  video: "Video tasks",
};
