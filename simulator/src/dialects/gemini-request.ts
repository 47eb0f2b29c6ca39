import { bounds } from "../bounds.ts";
import { Conversation } from "../conversation.ts";
import { Refusal } from "../dialect.ts";
import {
  countOf,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
  stringsIn,
} from "../json-body.ts";
import type { ParsedRequest, RequestedTool } from "../parsed-request.ts";
import type { SimulatorRequest } from "../request.ts";
import { anyAnswer } from "../sample-value.ts";
import { splitModel } from "../script-source.ts";
import { chooseCalls, type ToolRequest } from "../tool-choice.ts";
import { contentsOf, field, partsOf } from "./gemini-json.ts";
import { refuseGemini } from "./gemini-rules.ts";

export interface GeminiRequest {
  readonly parsed: ParsedRequest;
  /** Gemini 3 and later: calls have ids, and every answer ends with a signature. */
  readonly signs: boolean;
  readonly thoughtsShown: boolean;
  /** Whether the stream is one JSON array. */
  readonly array: boolean;
}

export function readGemini(
  request: SimulatorRequest,
  facts: { readonly model: string; readonly stream: boolean; readonly array: boolean },
): GeminiRequest {
  const body = parseObject(request.body);
  if (body === null) throw new Refusal(400, "Invalid JSON payload received. Expected an object.");
  const modelParts = splitModel(facts.model);
  const turn = objectOf(body["generateContentRequest"] ?? body);
  const signs = isSigning(modelParts.model);
  refuseGemini(turn, signs);
  const conversation = converse(turn);
  const config = objectOf(field(turn, "generationConfig"));
  const thinking = objectOf(field(config, "thinkingConfig"));
  const thoughtsShown = field(thinking, "includeThoughts") === true;
  const budget = field(thinking, "thinkingBudget");
  return {
    parsed: {
      model: modelParts.model,
      stream: facts.stream,
      prompt: conversation.last,
      promptTokens: conversation.words,
      outputMax: countOf(field(config, "maxOutputTokens")) ?? Number.POSITIVE_INFINITY,
      choices: Math.min(Math.max(1, countOf(field(config, "candidateCount")) ?? 1), bounds.choicesMax),
      ...chooseCalls(toolsOf(turn), toolRequestOf(turn), conversation),
      schema: schemaOf(config),
      thinks: budget !== 0 && (thoughtsShown || budget !== undefined || field(thinking, "thinkingLevel") !== undefined),
      image: imageOf(config),
      script: { ...modelParts.script, ...conversation.script },
    },
    signs,
    thoughtsShown,
    array: facts.array,
  };
}

function isSigning(model: string): boolean {
  return /^(?:models\/)?gemini-(?:[3-9]|\d\d)/.test(model);
}

/** Function results count as text, as in other dialects: every string in the response. */
function converse(turn: JsonObject): Conversation {
  const conversation = new Conversation();
  const system = field(turn, "systemInstruction");
  if (system !== undefined) conversation.add("system", typeof system === "string" ? [system] : texts(partsOf(system)));
  for (const content of contentsOf(turn)) {
    const parts = partsOf(content);
    const results = parts.filter((part) => isObject(field(part, "functionResponse")));
    for (const part of results) {
      conversation.add("tool", stringsIn(objectOf(field(part, "functionResponse"))["response"]));
    }
    if (results.length > 0 && results.length === parts.length) continue;
    conversation.add(content["role"] === "model" ? "assistant" : "user", texts(parts));
  }
  return conversation;
}

function texts(parts: readonly JsonObject[]): readonly string[] {
  return parts.filter((part) => part["thought"] !== true).map((part) => stringOf(part["text"]));
}

function toolsOf(turn: JsonObject): readonly RequestedTool[] {
  return objectsOf(turn["tools"]).flatMap((tool) =>
    objectsOf(field(tool, "functionDeclarations")).map((declared): RequestedTool => {
      const schema = field(declared, "parametersJsonSchema") ?? lowerTypes(declared["parameters"]);
      return { kind: "function", name: stringOf(declared["name"]), parameters: schema ?? { type: "object" } };
    }),
  );
}

function toolRequestOf(turn: JsonObject): ToolRequest {
  const config = objectOf(field(objectOf(field(turn, "toolConfig")), "functionCallingConfig"));
  const mode = stringOf(config["mode"]).toUpperCase();
  const allowed = field(config, "allowedFunctionNames");
  const forced = mode === "ANY" && Array.isArray(allowed) && allowed.length === 1 ? stringOf(allowed[0]) : null;
  return { mode: mode === "NONE" ? "none" : mode === "ANY" ? "required" : "auto", forced, parallel: true };
}

function schemaOf(config: JsonObject): unknown {
  const schema = field(config, "responseJsonSchema") ?? lowerTypes(field(config, "responseSchema"));
  if (schema !== undefined && schema !== null) return schema;
  return field(config, "responseMimeType") === "application/json" ? anyAnswer : null;
}

/** Gemini writes types in upper case. */
function lowerTypes(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(lowerTypes);
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      name === "type" && typeof value === "string" ? value.toLowerCase() : lowerTypes(value),
    ]),
  );
}

function imageOf(config: JsonObject): ParsedRequest["image"] {
  const modalities = field(config, "responseModalities");
  if (!Array.isArray(modalities)) return null;
  const names = modalities.map((name) => stringOf(name).toUpperCase());
  if (!names.includes("IMAGE")) return null;
  return names.includes("TEXT") ? "after text" : "alone";
}
