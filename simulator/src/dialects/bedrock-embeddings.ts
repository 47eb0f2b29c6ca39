import { silentAnswer, usageFor } from "../answer.ts";
import { bounds } from "../bounds.ts";
import { type Dialect, type Exchange, Refusal } from "../dialect.ts";
import { countOf, type JsonObject, objectOf, parseObject, stringOf } from "../json-body.ts";
import { bareRequest } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { splitMarker, splitModel } from "../script-source.ts";
import { countWords } from "../words.ts";
import { admitBedrock, bedrockError, bedrockErrorEvent, bedrockHeaders, bedrockPath } from "./bedrock-conventions.ts";
import { defaultDimensions, vectorOf } from "./openai-embeddings.ts";

/** Bedrock's InvokeModel with embedding models of Titan and Cohere. Cohere's tokens are only in a header. */
export function bedrockEmbeddings(secret: string | undefined): Dialect {
  return {
    id: "bedrock-embeddings",
    matches: ({ method, path }) => method === "POST" && embedder.test(bedrockPath(path)?.model ?? ""),
    read: (request) => read(request, secret),
    headers: bedrockHeaders,
    error: bedrockError,
  };
}

const embedder = /(?:amazon\.titan|cohere)[.-]embed/;

function read(request: SimulatorRequest, secret: string | undefined): Exchange {
  const modelParts = splitModel(bedrockPath(request.path)?.model ?? "");
  const body = objectOf(parseObject(request.body));
  const cohere = modelParts.model.includes("cohere");
  const texts = cohere ? cohereTexts(body, modelParts.model) : titanText(body, modelParts.model);
  const parsed = {
    ...bareRequest(
      modelParts.model,
      texts.reduce((sum, text) => sum + countWords(splitMarker(text).text), 0),
    ),
    script: { ...modelParts.script, ...splitMarker(texts[0] ?? "").script },
  };
  const length = Math.min(
    countOf(body["dimensions"] ?? body["output_dimension"]) ?? defaultDimensions,
    bounds.dimensionsMax,
  );
  return {
    parsed,
    ping: null,
    admit: (script, record) => admitBedrock(request, script.aws_secret ?? secret, record),
    compose(script) {
      const prompt = script.prompt_tokens ?? parsed.promptTokens;
      return { ...silentAnswer(prompt), usage: usageFor(script, { prompt, output: 0, reasoning: 0 }) };
    },
    whole(_head, { usage }) {
      const vectors = texts.map((text) => [...vectorOf(text, length)]);
      if (cohere) {
        return JSON.stringify({ id: "e1", texts, response_type: "embeddings_by_type", embeddings: { float: vectors } });
      }
      const tokenCount = usage === null ? {} : { inputTextTokenCount: usage.prompt };
      return JSON.stringify({ embedding: vectors[0], embeddingsByType: { float: vectors[0] }, ...tokenCount });
    },
    events: () => [],
    errorEvent: bedrockErrorEvent,
  };
}

function titanText(body: JsonObject, model: string): readonly string[] {
  const allowed = model.includes("-v1") ? ["inputText"] : ["inputText", "dimensions", "normalize", "embeddingTypes"];
  for (const name of Object.keys(body)) if (!allowed.includes(name)) throw malformed(`extraneous key [${name}]`);
  const text = stringOf(body["inputText"]);
  if (text === "") throw malformed("required key [inputText] not found");
  return [text];
}

function cohereTexts(body: JsonObject, model: string): readonly string[] {
  const allowed = [
    "texts",
    "input_type",
    "truncate",
    "embedding_types",
    ...(model.includes("-v3") ? [] : ["output_dimension"]),
  ];
  for (const name of Object.keys(body)) if (!allowed.includes(name)) throw malformed(`extraneous key [${name}]`);
  if (!/^(?:search_(?:document|query)|classification|clustering)$/.test(stringOf(body["input_type"]))) {
    throw malformed("required key [input_type] not found");
  }
  const { texts } = body;
  if (!Array.isArray(texts) || texts.length === 0 || texts.length > 96) throw malformed("#/texts: expected 1 to 96");
  return texts.map(stringOf);
}

function malformed(why: string): Refusal {
  return new Refusal(400, `Malformed input request: ${why}, please reformat your input and try again.`);
}
