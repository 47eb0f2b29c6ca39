import {
  bounds,
  type EmbeddingAnswer,
  type EmbeddingTurn,
  type Failure,
  noUsage,
  type RequestedEmbedding,
} from "#core/index.ts";
import type { Warn } from "../codec.ts";
import type { ReplyFacts, ReplyReader, UsageReading } from "../dialect.ts";
import { upstreamFault } from "../errors/upstream-errors.ts";
import { type JsonObject, numberOf, parseReply, textOf, unsupported } from "../json/value.ts";
import { refuseStream } from "../native/json-calls.ts";

/** An embeddings endpoint as callers use it. */
export interface EmbeddingCaller {
  /** Throws Failure invalid_request or unsupported_by_model. */
  readTurn(body: Uint8Array, warn: Warn): { readonly turn: EmbeddingTurn; readonly base64: boolean };
  writeAnswer(
    answer: EmbeddingAnswer & { readonly inputTokens: number },
    requested: RequestedEmbedding & { readonly model: string },
  ): object;
}

/** An embeddings dialect as upstreams speak it. */
export interface EmbeddingUpstream extends ReplyReader {
  /** Texts per call. */
  inputsMax(upstreamModel: string): number;
  /** Throws Failure unsupported_by_model. */
  writeTurn(turn: EmbeddingTurn, upstreamModel: string, warn: Warn): object;
  /** Throws Failure upstream_error. */
  readAnswer(reply: JsonObject): EmbeddingAnswer;
}

export function replyMethods(
  readAnswer: EmbeddingUpstream["readAnswer"],
): Pick<EmbeddingUpstream, "readAnswer" | "readReply" | "tapStream"> {
  return {
    readAnswer,
    readReply(body): ReplyFacts {
      const reply = parseReply(body);
      const errorMessage = errorIn(reply);
      const tokens = errorMessage === null ? readAnswer(reply).inputTokens : null;
      return { usage: inputUsage(tokens), errorMessage, outputEstimate: 0, id: null };
    },
    tapStream: refuseStream("embeddings"),
  };
}

/** Only input is charged; usage that is not reported is estimated. */
export function inputUsage(tokens: number | null): UsageReading {
  if (tokens === null) return { usage: noUsage, raw: "{}", missingSide: "input" };
  return { usage: { ...noUsage, inputUncached: tokens }, raw: JSON.stringify({ input_tokens: tokens }) };
}

/** Each call is one request. Throws Failure unsupported_by_model for too many texts. */
export function checkCount(turn: EmbeddingTurn, max: number): void {
  const { length } = turn.inputs;
  if (length <= max) return;
  const texts = max === 1 ? "one text" : `at most ${max} texts`;
  throw unsupported("input", `An upstream of this model takes ${texts} in a call; ${length} were sent.`);
}

/** Throws Failure upstream_error. */
export function vectorOf(value: unknown): readonly number[] {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => numberOf(one) !== null)) return value;
  throw noVectors();
}

export function noVectors(): Failure {
  return upstreamFault("The upstream's answer contains no vectors.");
}

function errorIn(reply: JsonObject): string | null {
  const error = reply["error"];
  if (error === undefined || error === null) return null;
  const message = typeof error === "object" ? (error as JsonObject)["message"] : error;
  return (textOf(message) ?? "unknown error").slice(0, bounds.errorBodyBytesMax);
}

/** Purposes of vectors: Cohere's names by Google's. */
const cohereByGoogle: ReadonlyMap<string, string> = new Map([
  ["RETRIEVAL_DOCUMENT", "search_document"],
  ["RETRIEVAL_QUERY", "search_query"],
  ["QUESTION_ANSWERING", "search_query"],
  ["FACT_VERIFICATION", "search_query"],
  ["CODE_RETRIEVAL_QUERY", "search_query"],
  ["CLASSIFICATION", "classification"],
  ["CLUSTERING", "clustering"],
]);

/** Null if Cohere has no such purpose. */
export function cohereTask(task: string): string | null {
  return cohereByGoogle.get(task) ?? null;
}

/** Unknown words are passed on. */
export function taskOfCohere(inputType: string | null): string | null {
  if (inputType === null) return null;
  for (const [google, cohere] of cohereByGoogle) if (cohere === inputType) return google;
  return inputType;
}
