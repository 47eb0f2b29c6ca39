import type { EndpointId, LedgerEntry, Usage } from "#core/index.ts";

/** `gen_ai.operation.name`: the name from the conventions, or else the endpoint. */
export function operationOf(endpoint: EndpointId): string {
  return operations[endpoint] ?? endpoint;
}

const operations: { readonly [Endpoint in EndpointId]?: string } = {
  chat: "chat",
  messages: "chat",
  responses: "chat",
  "responses-compact": "chat",
  generate: "generate_content",
  completions: "text_completion",
  embeddings: "embeddings",
  "embed-content": "embeddings",
  "batch-embed-contents": "embeddings",
  images: "generate_content",
  "image-edits": "generate_content",
  video: "generate_content",
};

/** `gen_ai.provider.name` of a provider kind: the name from the conventions, or else the kind. */
export function providerNameOf(kind: string): string {
  return providerNames[kind] ?? kind;
}

const providerNames: Readonly<Record<string, string>> = {
  openai: "openai",
  "azure-openai": "azure.ai.openai",
  anthropic: "anthropic",
  bedrock: "aws.bedrock",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  xai: "x_ai",
  groq: "groq",
  deepseek: "deepseek",
  cohere: "cohere",
  moonshot: "moonshot_ai",
};

/** The conventions include cached, audio and image tokens in the input. */
export function tokenCounts(usage: Usage) {
  return {
    input:
      usage.inputUncached +
      usage.cacheRead +
      usage.cacheWrite5m +
      usage.cacheWrite1h +
      usage.audioInput +
      usage.imageInput,
    output: usage.output + usage.audioOutput + usage.imageOutput,
  };
}

/** `error.type`: our error code; null on success. */
export function errorTypeOf({ outcome, errorCode }: Pick<LedgerEntry, "outcome" | "errorCode">): string | null {
  return outcome === "succeeded" ? null : (errorCode ?? outcome);
}
