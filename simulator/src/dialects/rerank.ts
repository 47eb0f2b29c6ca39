import { type Answer, silentAnswer, usageFor } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, isObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/**
 * Ranks documents by the words that they share with the query. Answers like Cohere at `/v2/rerank`, and like Jina at any other path
 * that ends in `/rerank` or `/reranks`.
 */
export const rerank: Dialect = {
  id: "rerank",
  matches: ({ method, path }) => method === "POST" && /\/reranks?$/.test(path),
  read,
  headers: openAiHeaders,
  error: (refusal, requestId, { path }) =>
    isCohere(path) ? JSON.stringify({ id: requestId, message: refusal.message }) : openAiError(refusal, requestId),
};

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "invalid request: could not parse JSON body");
  const modelParts = splitModel(stringOf(body["model"]));
  if (modelParts.model === "") throw new Refusal(400, "invalid request: model is required");
  const query = splitMarker(textOf(body["query"]));
  if (query.text === "") throw new Refusal(400, "invalid request: query must not be empty");
  const documents = Array.isArray(body["documents"]) ? body["documents"].map(textOf) : [];
  if (documents.length === 0 || documents.length > bounds.embeddingsMax) {
    throw new Refusal(400, "invalid request: list of documents must not be empty");
  }
  const queryWords = countWords(query.text);
  // Vendors that bill by tokens count the query for each document.
  const tokens = documents.reduce((sum, text) => sum + countWords(text) + queryWords, 0);
  const parsed = { ...bareRequest(modelParts.model, tokens), script: { ...modelParts.script, ...query.script } };
  const top = Math.min(countOf(body["top_n"]) ?? documents.length, documents.length);
  const returnsDocuments = body["return_documents"] === true;
  return {
    parsed,
    ping: null,
    compose(script): Answer {
      const prompt = script.prompt_tokens ?? tokens;
      return { ...silentAnswer(prompt), usage: usageFor(script, { prompt, output: 0, reasoning: 0 }) };
    },
    whole(head, { usage }) {
      const results = ranked(query.text, documents)
        .slice(0, top)
        .map(({ index, score }) => ({
          index,
          relevance_score: score,
          ...(returnsDocuments ? { document: { text: documents[index] } } : {}),
        }));
      if (isCohere(request.path)) {
        const billed = usage === null ? {} : { billed_units: { search_units: Math.ceil(documents.length / 100) } };
        return JSON.stringify({
          id: `sim-${head.sequence}`,
          results,
          meta: { api_version: { version: "2" }, ...billed },
        });
      }
      const usageField = usage === null ? {} : { usage: { total_tokens: usage.prompt, prompt_tokens: usage.prompt } };
      return JSON.stringify({ model: parsed.model, object: "list", results, ...usageField });
    },
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function isCohere(path: string): boolean {
  return path.endsWith("/v2/rerank");
}

function textOf(value: unknown): string {
  return isObject(value) ? stringOf(value["text"]) : stringOf(value);
}

/** The share of the query's words that a document contains. Equal scores keep the order of the documents. */
export function ranked(query: string, documents: readonly string[]) {
  const words = new Set(query.toLowerCase().split(/\W+/).filter(Boolean));
  return documents
    .map((text, index) => {
      const documentWords = new Set(text.toLowerCase().split(/\W+/));
      const shared = [...words].filter((word) => documentWords.has(word)).length;
      return { index, score: Math.round(((shared + 0.01) / (words.size + 0.02)) * 1e6) / 1e6 };
    })
    .sort((a, b) => b.score - a.score || a.index - b.index);
}
