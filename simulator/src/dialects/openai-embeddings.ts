import { createHash } from "node:crypto";
import { type Answer, silentAnswer, usageFor } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** Embeddings with any base path. Vectors have length one, and the same text always gets the same vector. */
export const openAiEmbeddings: Dialect = {
  id: "openai-embeddings",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/embeddings"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

/** The default size of a vector. Real ones have thousands of numbers, which the tests do not need. */
export const defaultDimensions = 8;

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const modelParts = splitModel(stringOf(body["model"]));
  if (modelParts.model === "") throw new Refusal(400, "you must provide a model parameter");
  const inputs = inputsOf(body);
  const promptParts = splitMarker(inputs[0]?.text ?? "");
  const parsed = {
    ...bareRequest(
      modelParts.model,
      inputs.reduce((sum, input) => sum + input.tokens, 0),
    ),
    script: { ...modelParts.script, ...promptParts.script },
  };
  const dimensions = Math.min(countOf(body["dimensions"]) ?? defaultDimensions, bounds.dimensionsMax);
  const base64 = body["encoding_format"] === "base64";
  return {
    parsed,
    ping: null,
    compose(script): Answer {
      const prompt = script.prompt_tokens ?? parsed.promptTokens;
      return { ...silentAnswer(prompt), usage: usageFor(script, { prompt, output: 0, reasoning: 0 }) };
    },
    whole(_head, { usage }) {
      const data = inputs.map(({ text }, index) => {
        const vector = vectorOf(text, dimensions);
        return { object: "embedding", index, embedding: base64 ? base64Of(vector) : [...vector] };
      });
      const usageField = usage === null ? {} : { usage: { prompt_tokens: usage.prompt, total_tokens: usage.prompt } };
      return JSON.stringify({ object: "list", data, model: parsed.model, ...usageField });
    },
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

interface Input {
  readonly text: string;
  readonly tokens: number;
}

/** A string, strings, token ids, or lists of token ids. A token id counts as one token. */
function inputsOf(body: JsonObject): readonly Input[] {
  const { input } = body;
  const list: readonly unknown[] = Array.isArray(input) && !isTokens(input) ? input : [input];
  if (list.length === 0 || list.length > bounds.embeddingsMax) throw invalidInput();
  return list.map((input): Input => {
    if (typeof input === "string" && input !== "") return { text: input, tokens: countWords(splitMarker(input).text) };
    if (Array.isArray(input) && isTokens(input)) return { text: JSON.stringify(input), tokens: input.length };
    throw invalidInput();
  });
}

function isTokens(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((input) => typeof input === "number");
}

function invalidInput(): Refusal {
  return new Refusal(400, "'$.input' is invalid. Please check the API reference.", { param: "input" });
}

export function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions);
  let block = createHash("sha256").update(text).digest();
  for (let index = 0; index < dimensions; index += 1) {
    const at = index % block.length;
    if (at === 0 && index > 0) block = createHash("sha256").update(block).digest();
    vector[index] = ((block[at] ?? 0) - 127.5) / 127.5;
  }
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

/** Little-endian 32-bit floats. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}
