import { silentAnswer, usageFor } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, objectOf, objectsOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import { pathPart } from "../path-part.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { googleError, googleErrorEvent, googleHeaders, requireBearer, requireGoogleKey } from "./google-conventions.ts";
import { defaultDimensions, vectorOf } from "./openai-embeddings.ts";

/** Gemini's embedContent and batchEmbedContents; on Vertex, embedContent and predict with text embedding models. */
export const googleEmbeddings: Dialect = {
  id: "google-embeddings",
  matches: ({ method, path }) => method === "POST" && pathPattern.test(path),
  read,
  headers: googleHeaders,
  error: googleError,
};

const pathPattern = /\/models\/(.+):(embedContent|batchEmbedContents|predict)$/;

interface Input {
  readonly text: string;
  readonly dimensions: number;
}

function read(request: SimulatorRequest): Exchange {
  const [, path = "", method = ""] = pathPattern.exec(request.path) ?? [];
  const onVertex = request.path.includes("/publishers/");
  if (onVertex) requireBearer(request);
  else requireGoogleKey(request);
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "Invalid JSON payload received. Expected an object.");
  const modelParts = splitModel(pathPart(path));
  const inputs = inputsOf(body, method, modelParts.model);
  if (onVertex && method === "predict" && modelParts.model.startsWith("gemini-embedding") && inputs.length > 1) {
    throw new Refusal(400, "The model supports one instance per request.");
  }
  const tokens = inputs.map(({ text }) => countWords(splitMarker(text).text));
  const parsed = {
    ...bareRequest(
      modelParts.model,
      tokens.reduce((sum, count) => sum + count, 0),
    ),
    script: { ...modelParts.script, ...splitMarker(inputs[0]?.text ?? "").script },
  };
  return {
    parsed,
    ping: null,
    compose(script) {
      const prompt = script.prompt_tokens ?? parsed.promptTokens;
      return { ...silentAnswer(prompt), usage: usageFor(script, { prompt, output: 0, reasoning: 0 }) };
    },
    whole(_head, { usage }) {
      const vectors = inputs.map(({ text, dimensions }) => [...vectorOf(text, dimensions)]);
      if (method === "predict") {
        const predictions = vectors.map((values, index) => ({
          embeddings: {
            values,
            ...(usage === null ? {} : { statistics: { token_count: tokens[index], truncated: false } }),
          },
        }));
        return JSON.stringify({ predictions });
      }
      const usageField = usage === null ? {} : { usageMetadata: { promptTokenCount: usage.prompt } };
      if (method === "embedContent") return JSON.stringify({ embedding: { values: vectors[0] }, ...usageField });
      return JSON.stringify({ embeddings: vectors.map((values) => ({ values })), ...usageField });
    },
    events: () => [],
    errorEvent: googleErrorEvent,
  };
}

function inputsOf(body: JsonObject, method: string, model: string): readonly Input[] {
  if (method === "predict") {
    const dimensions = lengthOf(objectOf(body["parameters"])["outputDimensionality"]);
    const texts = objectsOf(body["instances"]).map(({ content }) => stringOf(content));
    if (texts.length === 0 || texts.length > 250 || texts.includes("")) throw new Refusal(400, "Invalid instances.");
    return texts.map((text) => ({ text, dimensions }));
  }
  const requests = method === "embedContent" ? [body] : objectsOf(body["requests"]);
  if (requests.length === 0 || requests.length > 100) {
    throw new Refusal(400, "BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch");
  }
  return requests.map((item) => {
    const modelField = item["model"];
    if (
      (method !== "embedContent" && modelField === undefined) ||
      (modelField !== undefined && modelField !== `models/${model}`)
    ) {
      throw new Refusal(400, `model must match the model of the path, models/${model}`);
    }
    const parts = objectsOf(objectOf(item["content"])["parts"]);
    const text = parts.map((part) => stringOf(part["text"])).join("\n");
    if (text === "") throw new Refusal(400, "content is empty");
    return { text, dimensions: lengthOf(item["outputDimensionality"]) };
  });
}

function lengthOf(dimensions: unknown): number {
  return Math.min(countOf(dimensions) ?? defaultDimensions, bounds.dimensionsMax);
}
