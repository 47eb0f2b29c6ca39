import type { AnswerFormat, ReasoningRequest, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, textOf, unsupported, wrong } from "../json/value.ts";
import { plainName } from "../turn/warnings.ts";
import { camelKeys } from "./camel-keys.ts";
import { toJsonSchema } from "./json-schema.ts";

type Generation = Pick<
  Turn,
  | "outputTokensMax"
  | "temperature"
  | "topP"
  | "topK"
  | "presencePenalty"
  | "frequencyPenalty"
  | "seed"
  | "stop"
  | "choices"
  | "format"
  | "reasoning"
  | "verbosity"
  | "pictures"
>;

/** What a generationConfig says. An explicit zero is a value; null and absence say nothing. */
export function readGeneration(generationConfig: unknown, warn: Warn): Generation {
  const config = camelKeys(generationConfig);
  for (const name of Object.keys(config)) {
    if (!known.has(name))
      warn(`generationConfig.${plainName(name)} is not understood by the upstream and was left out`);
  }
  const pictures = readModalities(config["responseModalities"]);
  return {
    outputTokensMax: number(config, "maxOutputTokens"),
    temperature: number(config, "temperature"),
    topP: number(config, "topP"),
    topK: number(config, "topK"),
    presencePenalty: number(config, "presencePenalty"),
    frequencyPenalty: number(config, "frequencyPenalty"),
    seed: number(config, "seed"),
    stop: stopSequences(config["stopSequences"]),
    choices: number(config, "candidateCount") ?? 1,
    format: readFormat(config),
    reasoning: readThinking(config["thinkingConfig"]),
    verbosity: null,
    ...(pictures ? { pictures } : {}),
  };
}

const known: ReadonlySet<string> = new Set([
  "maxOutputTokens",
  "temperature",
  "topP",
  "topK",
  "presencePenalty",
  "frequencyPenalty",
  "seed",
  "stopSequences",
  "candidateCount",
  "responseMimeType",
  "responseSchema",
  "responseJsonSchema",
  "responseModalities",
  "thinkingConfig",
]);

function number(config: JsonObject, name: string): number | null {
  const value = config[name];
  if (value === undefined || value === null) return null;
  if (typeof value !== "number") throw wrong(`generationConfig.${name}`, "must be a number");
  return value;
}

function stopSequences(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const texts = arrayOf(value).filter((sequence) => typeof sequence === "string");
  if (!Array.isArray(value) || texts.length < value.length) {
    throw wrong("generationConfig.stopSequences", "must be an array of strings");
  }
  return texts;
}

/** Whether pictures are wanted. A spoken answer has no neutral form. */
function readModalities(modalities: unknown): boolean {
  const said = arrayOf(modalities).map((modality) => textOf(modality)?.toUpperCase());
  if (said.every((modality) => modality === "TEXT" || modality === "IMAGE")) return said.includes("IMAGE");
  throw unsupported("generationConfig.responseModalities", "The upstream answers in text and pictures only.");
}

function readFormat(config: JsonObject): AnswerFormat | null {
  const type = textOf(config["responseMimeType"]);
  if (type === null || type === "") return null;
  if (type === "text/plain") return { kind: "text" };
  // An enum's bare text is what no other dialect can ask for: with a schema it would come in quotes.
  if (type !== "application/json") {
    throw unsupported("generationConfig.responseMimeType", "The upstream answers in plain text or JSON only.");
  }
  const schema = config["responseJsonSchema"] ?? config["responseSchema"];
  if (!isObject(schema)) return { kind: "json" };
  return {
    kind: "schema",
    name: null,
    description: null,
    schema: schema === config["responseJsonSchema"] ? schema : toJsonSchema(schema),
    strict: null,
  };
}

const efforts = ["minimal", "low", "medium", "high"] as const;

/** A budget of 0 switches thinking off, -1 leaves it to the model. */
function readThinking(thinkingConfig: unknown): ReasoningRequest | null {
  if (!isObject(thinkingConfig)) return null;
  const config = camelKeys(thinkingConfig);
  const budget = number(config, "thinkingBudget");
  const level = textOf(config["thinkingLevel"])?.toLowerCase();
  const effort = budget === 0 ? "none" : (efforts.find((known) => known === level) ?? null);
  // What says nothing is no wish: elsewhere one would switch thinking on.
  if (effort === null && budget === null && config["includeThoughts"] !== true) return null;
  return {
    effort,
    budgetTokens: budget === null || budget <= 0 ? null : budget,
    visible: config["includeThoughts"] === true,
  };
}
