import { type Answer, silentAnswer, usageFor } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, isObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMark, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/**
 * Documents ranked by the words that they share with the query: as Cohere answers at `/v2/rerank`, as Jina does at any other
 * path that ends in `/rerank` or `/reranks`.
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
  const named = splitModel(stringOf(body["model"]));
  if (named.model === "") throw new Refusal(400, "invalid request: model is required");
  const query = splitMark(textOf(body["query"]));
  if (query.text === "") throw new Refusal(400, "invalid request: query must not be empty");
  const documents = Array.isArray(body["documents"]) ? body["documents"].map(textOf) : [];
  if (documents.length === 0 || documents.length > bounds.embeddingsMax) {
    throw new Refusal(400, "invalid request: list of documents must not be empty");
  }
  const queryWords = countWords(query.text);
  // Vendors that charge by tokens count the query with each document.
  const tokens = documents.reduce((sum, text) => sum + countWords(text) + queryWords, 0);
  const asked = { ...bareRequest(named.model, tokens), script: { ...named.script, ...query.script } };
  const top = Math.min(countOf(body["top_n"]) ?? documents.length, documents.length);
  const shows = body["return_documents"] === true;
  return {
    asked,
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
          ...(shows ? { document: { text: documents[index] } } : {}),
        }));
      if (isCohere(request.path)) {
        const billed = usage === null ? {} : { billed_units: { search_units: Math.ceil(documents.length / 100) } };
        return JSON.stringify({
          id: `sim-${head.sequence}`,
          results,
          meta: { api_version: { version: "2" }, ...billed },
        });
      }
      const told = usage === null ? {} : { usage: { total_tokens: usage.prompt, prompt_tokens: usage.prompt } };
      return JSON.stringify({ model: asked.model, object: "list", results, ...told });
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

/** The share of the query's words that a document has; of equals the first comes first. */
export function ranked(query: string, documents: readonly string[]) {
  const words = new Set(query.toLowerCase().split(/\W+/).filter(Boolean));
  return documents
    .map((text, index) => {
      const own = new Set(text.toLowerCase().split(/\W+/));
      const shared = [...words].filter((word) => own.has(word)).length;
      return { index, score: Math.round(((shared + 0.01) / (words.size + 0.02)) * 1e6) / 1e6 };
    })
    .sort((one, other) => other.score - one.score || one.index - other.index);
}
