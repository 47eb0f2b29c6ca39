import type { TextPart, Turn } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, isObject, type JsonObject, missing, parseBody, textOf, unsupported, wrong } from "../json/value.ts";
import { plainName, warnOnce } from "../turn/warnings.ts";
import { camelKeys } from "./camel-keys.ts";
import { readContents } from "./read-contents.ts";
import { readGeneration } from "./read-generation.ts";
import { readTools } from "./read-tools.ts";

/** The body of a generateContent request as a turn. Throws Failure invalid_request when it cannot be understood. */
export function readGeminiTurn(body: Uint8Array, facts: { readonly stream: boolean }, warn: Warn): Turn {
  const request = camelKeys(parseBody(body));
  const warned = warnOnce(warn);
  const { contents, cachedContent } = request;
  if (contents === undefined || contents === null) throw missing("contents");
  if (!Array.isArray(contents)) throw wrong("contents", "must be an array");
  if (contents.length === 0) throw wrong("contents", "must hold at least one content");
  if (cachedContent !== undefined && cachedContent !== null && cachedContent !== "") {
    throw unsupported("cachedContent", "Content cached at Gemini cannot be used with this upstream.");
  }
  for (const name of Object.keys(request)) {
    if (!known.has(name)) warned(`${plainName(name)} is not understood by the upstream and was left out`);
  }
  return {
    stream: facts.stream,
    system: readInstruction(request["systemInstruction"]),
    messages: readContents(contents, warned),
    ...readTools(request["tools"], request["toolConfig"], warned),
    parallelToolCalls: null,
    ...readGeneration(request["generationConfig"], warned),
    userId: null,
    metadata: readLabels(request["labels"]),
    cacheKey: null,
    serviceTier: textOf(request["serviceTier"])?.toLowerCase() ?? null,
  };
}

/** `model` may stand in the body as well as in the path; `store` is about the vendor's own logs. */
const known: ReadonlySet<string> = new Set([
  "model",
  "contents",
  "systemInstruction",
  "tools",
  "toolConfig",
  "generationConfig",
  "cachedContent",
  "labels",
  "serviceTier",
  "store",
]);

function readInstruction(instruction: unknown): TextPart[] {
  if (instruction === undefined || instruction === null) return [];
  const said = typeof instruction === "string" ? [{ text: instruction }] : arrayOf(camelKeys(instruction)["parts"]);
  return said.map((part) => {
    const text = textOf(camelKeys(part)["text"]);
    if (text === null) throw wrong("systemInstruction", "must hold text parts");
    return { kind: "text", text, cache: null };
  });
}

function readLabels(labels: unknown): Turn["metadata"] {
  if (!isObject(labels)) return null;
  const texts = Object.entries(labels satisfies JsonObject).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return texts.length === 0 ? null : Object.fromEntries(texts);
}
