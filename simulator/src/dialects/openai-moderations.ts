import { silentAnswer } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { isObject, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { openAiError, openAiHeaders } from "./openai-conventions.ts";

/** Flags texts that contain the word "violence". Reports no usage, like OpenAI. */
export const openAiModerations: Dialect = {
  id: "openai-moderations",
  matches: ({ method, path }) => method === "POST" && path.endsWith("/moderations"),
  read,
  headers: openAiHeaders,
  error: openAiError,
};

function read(request: SimulatorRequest): Exchange {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "We could not parse the JSON body of your request.");
  const modelParts = splitModel(stringOf(body["model"]) || "omni-moderation-latest");
  const { input } = body;
  const inputs = (Array.isArray(input) ? input : [input]).map(textOf);
  if (inputs.length > bounds.embeddingsMax || inputs.some((text) => text === "")) {
    throw new Refusal(400, "'$.input' is invalid. Please check the API reference.", { param: "input" });
  }
  const promptParts = splitMarker(inputs[0] ?? "");
  const words = inputs.reduce((sum, text) => sum + countWords(splitMarker(text).text), 0);
  const parsed = { ...bareRequest(modelParts.model, words), script: { ...modelParts.script, ...promptParts.script } };
  return {
    parsed,
    ping: null,
    compose: () => silentAnswer(words),
    whole: (head) =>
      JSON.stringify({ id: `modr-sim${head.sequence}`, model: parsed.model, results: inputs.map(resultOf) }),
    events: () => [],
    errorEvent: (refusal, requestId) => ({ data: openAiError(refusal, requestId), tokens: 0, role: "error" }),
  };
}

function textOf(item: unknown): string {
  if (!isObject(item)) return stringOf(item);
  return item["type"] === "image_url" ? "an image" : stringOf(item["text"]);
}

function resultOf(text: string): object {
  const violence = /violence/i.test(text);
  return {
    flagged: violence,
    categories: { violence, hate: false },
    category_scores: { violence: violence ? 0.99 : 0.000_1, hate: 0.000_1 },
    category_applied_input_types: { violence: ["text"], hate: ["text"] },
  };
}
