import type { RequestedEmbedding, WireDialectId } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { jsonBytes, parseReply } from "../json/value.ts";
import { warnOnce } from "../turn/warnings.ts";
import { cohereOnBedrockUpstream, titanUpstream } from "./bedrock.ts";
import { checkCount, type EmbeddingCaller, type EmbeddingUpstream, noVectors } from "./codec.ts";
import {
  batchEmbedCaller,
  batchEmbedUpstream,
  embedContentCaller,
  embedContentUpstream,
  vertexPredictUpstream,
} from "./google.ts";
import { openaiEmbeddingCaller, openaiEmbeddingUpstream } from "./openai.ts";

export { inputUsage } from "./codec.ts";
export { batchEmbedWire, embedContentWire } from "./google-wires.ts";

const callers = {
  embeddings: openaiEmbeddingCaller,
  "embed-content": embedContentCaller,
  "batch-embed-contents": batchEmbedCaller,
} as const satisfies Readonly<Record<string, EmbeddingCaller>>;

export type EmbeddingEndpointId = keyof typeof callers;

export function isEmbeddingEndpoint(endpoint: string): endpoint is EmbeddingEndpointId {
  return endpoint in callers;
}

export const embeddingUpstreams = {
  "openai-embeddings": openaiEmbeddingUpstream,
  "gemini-embed-content": embedContentUpstream,
  "gemini-batch-embed": batchEmbedUpstream,
  "vertex-predict": vertexPredictUpstream,
  "titan-embeddings": titanUpstream,
  "cohere-on-bedrock": cohereOnBedrockUpstream,
} as const satisfies { readonly [Dialect in WireDialectId]?: EmbeddingUpstream };

export type EmbeddingDialectId = keyof typeof embeddingUpstreams;

export function isEmbeddingDialect(dialect: WireDialectId): dialect is EmbeddingDialectId {
  return dialect in embeddingUpstreams;
}

export interface EmbeddingSides {
  readonly endpoint: EmbeddingEndpointId;
  readonly dialect: EmbeddingDialectId;
}

/** Translates a request; `requested` is needed for the answer. */
export function writeEmbeddings(body: Uint8Array, to: EmbeddingSides & { readonly upstreamModel: string }, warn: Warn) {
  const once = warnOnce(warn);
  const { turn, base64 } = callers[to.endpoint].readTurn(body, once);
  const upstream: EmbeddingUpstream = embeddingUpstreams[to.dialect];
  checkCount(turn, upstream.inputsMax(to.upstreamModel));
  const made = jsonBytes(upstream.writeTurn(turn, to.upstreamModel, once));
  return { made, requested: { count: turn.inputs.length, base64 } };
}

/** Translates an answer. `inputTokens`: used if the upstream reports none. Throws Failure upstream_error. */
export function answerEmbeddings(
  reply: Uint8Array,
  { endpoint, dialect }: EmbeddingSides,
  requested: RequestedEmbedding & { readonly model: string; readonly inputTokens: number },
): Uint8Array {
  const upstream: EmbeddingUpstream = embeddingUpstreams[dialect];
  const answer = upstream.readAnswer(parseReply(reply));
  if (answer.vectors.length !== requested.count) throw noVectors();
  const inputTokens = answer.inputTokens ?? requested.inputTokens;
  const written = callers[endpoint].writeAnswer({ ...answer, inputTokens }, requested);
  return jsonBytes(written);
}
