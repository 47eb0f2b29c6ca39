import { bounds, type EmbeddingInput, Failure } from "#core/index.ts";
import { arrayOf, countMember, countOf, invalid, objectOf, parseBody, textMember, unsupported } from "../json/value.ts";
import { isAbsent, warnOfUnsentMembers } from "../turn/warnings.ts";
import {
  type EmbeddingCaller,
  type EmbeddingUpstream,
  noVectors,
  replyMethods,
  taskOfCohere,
  vectorOf,
} from "./codec.ts";

const requestMembers: ReadonlySet<string> = new Set([
  "model",
  "input",
  "dimensions",
  "encoding_format",
  "input_type",
  "task_type",
  "user",
]);

/** Also accepts the purpose as Cohere's `input_type` or Google's `task_type`. */
export const openaiEmbeddingCaller: EmbeddingCaller = {
  readTurn(bytes, warn) {
    const body = parseBody(bytes);
    warnOfUnsentMembers(body, requestMembers, "", warn, isAbsent);
    const encoding = textMember(body, "encoding_format") ?? "float";
    if (encoding !== "float" && encoding !== "base64") throw invalid("encoding_format", "must be float or base64");
    const turn = {
      inputs: textsIn(body["input"]),
      dimensions: countMember(body, "dimensions", 1),
      task: textMember(body, "task_type") ?? taskOfCohere(textMember(body, "input_type")),
      truncate: null,
    };
    return { turn, base64: encoding === "base64" };
  },
  writeAnswer({ vectors, inputTokens }, { base64, model }) {
    return {
      object: "list",
      data: vectors.map((vector, index) => ({
        object: "embedding",
        index,
        embedding: base64 ? base64Of(vector) : vector,
      })),
      model,
      usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
    };
  },
};

export const openaiEmbeddingUpstream: EmbeddingUpstream = {
  ...replyMethods((reply) => {
    const data = arrayOf(reply["data"]).map(objectOf);
    if (data.length === 0) throw noVectors();
    const usage = objectOf(reply["usage"]);
    const sorted = data.toSorted((one, other) => (countOf(one["index"]) ?? 0) - (countOf(other["index"]) ?? 0));
    return {
      vectors: sorted.map(({ embedding }) => vectorOf(embedding)),
      inputTokens: countOf(usage["prompt_tokens"]) ?? countOf(usage["total_tokens"]),
    };
  }),
  inputsMax: () => bounds.embeddingInputsMax,
  writeTurn({ inputs, dimensions, task, truncate }, model, warn) {
    if (task !== null) warn("the task of the vectors is not supported by the upstream and was dropped");
    if (truncate !== null) warn("autoTruncate is not supported by the upstream and was dropped");
    if (inputs.some(({ title }) => title !== null)) warn("title is not supported by the upstream and was dropped");
    return {
      model,
      input: inputs.map(({ text }) => text),
      encoding_format: "float",
      ...(dimensions === null ? {} : { dimensions }),
    };
  },
};

/** Token arrays are specific to a model. */
function textsIn(input: unknown): readonly EmbeddingInput[] {
  const list = Array.isArray(input) ? input : [input];
  if (list.length === 0)
    throw new Failure("invalid_request", "input must contain at least one text.", { param: "input" });
  return list.map((text) => {
    if (typeof text === "string") return { text, title: null };
    if (typeof text === "number" || Array.isArray(text)) {
      throw unsupported("input", "An upstream of this model accepts only texts, not another model's tokens.");
    }
    throw invalid("input", "must be a string or a list of strings");
  });
}

function base64Of(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  vector.forEach((value, index) => {
    view.setFloat32(index * 4, value, true);
  });
  return Buffer.from(view.buffer).toString("base64");
}
