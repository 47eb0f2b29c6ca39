import { defineKind } from "../define-kind.ts";
import { embeddings, rerank } from "../standard-lanes.ts";

/** Embeddings and reranking. Source: api.jina.ai/redoc. */
export const jina = defineKind({
  id: "jina",
  title: "Jina AI",
  baseUrl: "https://api.jina.ai/v1",
  variable: "JINA",
  apiKeyHelp: "Create one at jina.ai, under API key and billing.",
  lanes: [rerank, embeddings],
});
