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
import { quotableName } from "../turn/warnings.ts";

/** How callers of one endpoint ask for vectors. */
export interface EmbeddingCaller {
  /** Throws Failure invalid_request, or unsupported_by_model for what no other upstream can be asked. */
  readTurn(body: Uint8Array, warn: Warn): { readonly turn: EmbeddingTurn; readonly base64: boolean };
  /** `model` and `inputTokens` as the caller is to see them. */
  writeAnswer(
    answer: EmbeddingAnswer & { readonly inputTokens: number },
    asked: RequestedEmbedding & { readonly model: string },
  ): object;
}

/** How upstreams of one dialect are asked for them. */
export interface EmbeddingUpstream extends ReplyReader {
  /** Texts that one call may hold. */
  inputsMax(upstreamModel: string): number;
  /** Throws Failure unsupported_by_model when the turn cannot be carried honestly. */
  writeTurn(turn: EmbeddingTurn, upstreamModel: string, warn: Warn): object;
  /** Throws Failure upstream_error for what is no such answer. */
  readAnswer(reply: JsonObject): EmbeddingAnswer;
}

/** How a dialect's answers are listened to, by how they are read. */
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

/** What was read is all that is charged for; an upstream that does not say it is not free. */
export function inputUsage(tokens: number | null): UsageReading {
  if (tokens === null) return { usage: noUsage, raw: "{}", missingSide: "input" };
  return { usage: { ...noUsage, inputUncached: tokens }, raw: JSON.stringify({ input_tokens: tokens }) };
}

/** Throws Failure unsupported_by_model for more texts than one call may hold: each call is one request, and is paid as one. */
export function checkCount(turn: EmbeddingTurn, max: number): void {
  const { length } = turn.inputs;
  if (length <= max) return;
  const texts = max === 1 ? "one text" : `at most ${max} texts`;
  throw unsupported("input", `An upstream of this model takes ${texts} in a call; ${length} were sent.`);
}

/** A vector of numbers. Throws Failure upstream_error. */
export function vectorOf(value: unknown): readonly number[] {
  if (Array.isArray(value) && value.length > 0 && value.every((one) => numberOf(one) !== null)) return value;
  throw noVectors();
}

export function noVectors(): Failure {
  return upstreamFault("The upstream's answer holds no vectors.");
}

/** Names what a body holds beside what is read of it. */
export function warnOfUnknownMembers(body: JsonObject, read: ReadonlySet<string>, warn: Warn): void {
  for (const name of Object.keys(body))
    if (!read.has(name)) warn(`${quotableName(name)} cannot be carried and was left out`);
}

function errorIn(reply: JsonObject): string | null {
  const error = reply["error"];
  if (error === undefined || error === null) return null;
  const message = typeof error === "object" ? (error as JsonObject)["message"] : error;
  return (textOf(message) ?? "unknown error").slice(0, bounds.errorBodyBytesMax);
}

/** What vectors are for: Cohere's words by Google's. */
const cohereByGoogle: ReadonlyMap<string, string> = new Map([
  ["RETRIEVAL_DOCUMENT", "search_document"],
  ["RETRIEVAL_QUERY", "search_query"],
  ["QUESTION_ANSWERING", "search_query"],
  ["FACT_VERIFICATION", "search_query"],
  ["CODE_RETRIEVAL_QUERY", "search_query"],
  ["CLASSIFICATION", "classification"],
  ["CLUSTERING", "clustering"],
]);

/** null where Cohere has no word for it. */
export function cohereTask(task: string): string | null {
  return cohereByGoogle.get(task) ?? null;
}

/** Google's word for one of Cohere's; any other word is given as it is, for the upstream to judge. */
export function taskOfCohere(inputType: string | null): string | null {
  if (inputType === null) return null;
  for (const [google, cohere] of cohereByGoogle) if (cohere === inputType) return google;
  return inputType;
}
