import type { EmbeddingTurn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, countOf, objectOf, unsupported, withoutNulls } from "../json/value.ts";
import { cohereTask, type EmbeddingUpstream, noVectors, replyMethods, vectorOf } from "./codec.ts";

/** Takes one text. Source: Bedrock user guide, "Amazon Titan Embeddings". */
export const titanUpstream: EmbeddingUpstream = {
  ...replyMethods((reply) => ({
    vectors: [vectorOf(reply["embedding"])],
    inputTokens: countOf(reply["inputTextTokenCount"]),
  })),
  inputsMax: () => 1,
  writeTurn(turn, model, warn) {
    warnOfOptions(turn, warn);
    if (turn.task !== null) warn("the task of the vectors is not supported by the upstream and was dropped");
    const { inputs, dimensions } = turn;
    const inputText = inputs[0]?.text ?? "";
    if (dimensions === null) return { inputText };
    if (model.includes("titan-embed-image")) {
      return { inputText, embeddingConfig: { outputEmbeddingLength: dimensions } };
    }
    if (model.includes("titan-embed-text-v1") || model.includes("titan-embed-g1")) throw fixedDimensions();
    return { inputText, dimensions };
  },
};

/** Source: Bedrock user guide, "Cohere Embed". */
export const cohereOnBedrockUpstream: EmbeddingUpstream = {
  // Version 3 answers with a list, or by type if one was requested; tokens are in a header.
  ...replyMethods(({ embeddings }) => {
    const list = Array.isArray(embeddings) ? embeddings : arrayOf(objectOf(embeddings)["float"]);
    if (list.length === 0) throw noVectors();
    return { vectors: list.map(vectorOf), inputTokens: null };
  }),
  inputsMax: () => 96,
  writeTurn(turn, model, warn) {
    warnOfOptions(turn, warn);
    const { inputs, dimensions, task, truncate } = turn;
    const inputType = task === null ? "search_document" : cohereTask(task);
    if (inputType === null) warn("this taskType is not supported by the upstream: search_document was used");
    if (dimensions !== null && model.includes("-v3")) throw fixedDimensions();
    const cut = model.includes("-v3") ? "END" : "RIGHT";
    return withoutNulls({
      texts: inputs.map(({ text }) => text),
      input_type: inputType ?? "search_document",
      embedding_types: ["float"],
      output_dimension: dimensions,
      truncate: truncate === null ? null : truncate ? cut : "NONE",
    });
  },
};

function warnOfOptions({ inputs, truncate }: EmbeddingTurn, warn: Warn): void {
  if (inputs.some(({ title }) => title !== null)) warn("title is not supported by the upstream and was dropped");
  if (truncate === false) warn("autoTruncate: false is the upstream's only behavior");
}

/** Vectors of another length would not match stored ones. */
function fixedDimensions() {
  return unsupported("dimensions", "An upstream of this model returns vectors of a fixed length.");
}
