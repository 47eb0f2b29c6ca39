import type { EmbeddingInput, EmbeddingTurn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import {
  arrayOf,
  booleanMember,
  countMember,
  countOf,
  invalid,
  type JsonObject,
  objectOf,
  parseBody,
  textMember,
  unsupported,
  withoutNulls,
} from "../json/value.ts";
import { isAbsent, warnOfUnsentMembers } from "../turn/warnings.ts";
import { type EmbeddingCaller, type EmbeddingUpstream, noVectors, replyMethods, vectorOf } from "./codec.ts";

const requestMembers: ReadonlySet<string> = new Set([
  "model",
  "content",
  "taskType",
  "task_type",
  "title",
  "outputDimensionality",
  "output_dimensionality",
  "autoTruncate",
  "auto_truncate",
]);

/** Source: Gemini API reference, models.embedContent. */
function readOne(body: JsonObject, warn: Warn): EmbeddingTurn {
  warnOfUnsentMembers(body, requestMembers, "", warn, isAbsent);
  const spelling = (camel: string, snake: string) => (body[camel] === undefined ? snake : camel);
  return {
    inputs: [{ text: textOfContent(body["content"]), title: textMember(body, "title") }],
    dimensions: countMember(body, spelling("outputDimensionality", "output_dimensionality"), 1),
    task: textMember(body, spelling("taskType", "task_type")),
    truncate: booleanMember(body, spelling("autoTruncate", "auto_truncate")),
  };
}

export const embedContentCaller: EmbeddingCaller = {
  readTurn: (bytes, warn) => ({ turn: readOne(parseBody(bytes), warn), base64: false }),
  writeAnswer: ({ vectors: [values = []], inputTokens }) => ({
    embedding: { values },
    usageMetadata: { promptTokenCount: inputTokens },
  }),
};

export const batchEmbedCaller: EmbeddingCaller = {
  readTurn(bytes, warn) {
    const turns = arrayOf(parseBody(bytes)["requests"]).map((one) => readOne(objectOf(one), warn));
    const [first] = turns;
    if (first === undefined) throw invalid("requests", "must contain at least one request");
    for (const name of ["dimensions", "task", "truncate"] as const) {
      if (turns.some((turn) => turn[name] !== first[name])) {
        throw unsupported(
          "requests",
          `An upstream of this model takes one ${parameterNames[name]} for all texts of a call.`,
        );
      }
    }
    return { turn: { ...first, inputs: turns.flatMap(({ inputs }) => inputs) }, base64: false };
  },
  writeAnswer: ({ vectors, inputTokens }) => ({
    embeddings: vectors.map((values) => ({ values })),
    usageMetadata: { promptTokenCount: inputTokens },
  }),
};

const parameterNames = { dimensions: "outputDimensionality", task: "taskType", truncate: "autoTruncate" } as const;

const answers = replyMethods((reply) => {
  const list = Array.isArray(reply["embeddings"]) ? reply["embeddings"] : [reply["embedding"]];
  if (list.length === 0) throw noVectors();
  return {
    vectors: list.map((one) => vectorOf(objectOf(one)["values"])),
    // In a batch, the count is a text next to the embedding.
    inputTokens:
      countOf(objectOf(reply["usageMetadata"])["promptTokenCount"]) ??
      countOf(Number(reply["tokenCount"] ?? Number.NaN)),
  };
});

/** Google Cloud's multimodal embeddings: one text, no model in the body. */
export const embedContentUpstream: EmbeddingUpstream = {
  ...answers,
  inputsMax: () => 1,
  writeTurn: ({ inputs: [input = emptyInput], ...parameters }) => requestOf(input, parameters),
};

export const batchEmbedUpstream: EmbeddingUpstream = {
  ...answers,
  inputsMax: () => 100,
  writeTurn: ({ inputs, ...parameters }, upstreamModel) => ({
    requests: inputs.map((input) => ({ model: `models/${upstreamModel}`, ...requestOf(input, parameters) })),
  }),
};

const emptyInput: EmbeddingInput = { text: "", title: null };

function requestOf(
  { text, title }: EmbeddingInput,
  { dimensions, task, truncate }: Omit<EmbeddingTurn, "inputs">,
): object {
  const parameters = { taskType: task, title, outputDimensionality: dimensions, autoTruncate: truncate };
  return { content: { parts: [{ text }] }, ...withoutNulls(parameters) };
}

/** All parts make one vector. */
function textOfContent(content: unknown): string {
  const parts = arrayOf(objectOf(content)["parts"]).map(objectOf);
  if (parts.length === 0) throw invalid("content", "must contain at least one part");
  const texts = parts.map(({ text }) => text);
  if (texts.every((text) => typeof text === "string")) return texts.join("\n");
  throw unsupported("content", "An upstream of this model accepts only texts.");
}

/** `:predict` of Google Cloud's text embeddings. Source: Vertex AI, "Text embeddings API". */
export const vertexPredictUpstream: EmbeddingUpstream = {
  ...replyMethods((reply) => {
    const found = arrayOf(reply["predictions"]).map((one) => objectOf(objectOf(one)["embeddings"]));
    if (found.length === 0) throw noVectors();
    const counts = found.map(({ statistics }) => countOf(objectOf(statistics)["token_count"]));
    return {
      vectors: found.map(({ values }) => vectorOf(values)),
      inputTokens: counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0),
    };
  }),
  inputsMax: (model) => (model.startsWith("gemini-embedding") ? 1 : 250),
  writeTurn({ inputs, dimensions, task, truncate }) {
    const parameters = withoutNulls({ outputDimensionality: dimensions, autoTruncate: truncate });
    return {
      instances: inputs.map(({ text, title }) => withoutNulls({ content: text, task_type: task, title })),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    };
  },
};
