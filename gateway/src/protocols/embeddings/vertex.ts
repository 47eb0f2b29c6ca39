import { arrayOf, countOf, objectOf } from "../json/value.ts";
import { type EmbeddingUpstream, listenerBy, noVectors, vectorOf } from "./codec.ts";

const readAnswer: EmbeddingUpstream["readAnswer"] = (reply) => {
  const found = arrayOf(reply["predictions"]).map((one) => objectOf(objectOf(one)["embeddings"]));
  if (found.length === 0) throw noVectors();
  const counts = found.map(({ statistics }) => countOf(objectOf(statistics)["token_count"]));
  return {
    vectors: found.map(({ values }) => vectorOf(values)),
    inputTokens: counts.reduce((sum, count) => (sum === null || count === null ? null : sum + count), 0),
  };
};

/** `:predict` of Google Cloud's text embedders. Source: Vertex AI, "Text embeddings API". */
export const vertexPredictUpstream: EmbeddingUpstream = {
  ...listenerBy(readAnswer),
  inputsMax: (model) => (model.startsWith("gemini-embedding") ? 1 : 250),
  writeTurn({ inputs, dimensions, task, truncate }) {
    const parameters = {
      ...(dimensions === null ? {} : { outputDimensionality: dimensions }),
      ...(truncate === null ? {} : { autoTruncate: truncate }),
    };
    return {
      instances: inputs.map(({ text, title }) => ({
        content: text,
        ...(task === null ? {} : { task_type: task }),
        ...(title === null ? {} : { title }),
      })),
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
    };
  },
  readAnswer,
};
