import type { Warn } from "../codec.ts";
import { type JsonObject, parseObject } from "../json-value.ts";

/** The arguments of a call as the object that Gemini wants; what is none stands under `_raw`, so that nothing is lost. */
export function writeArguments(text: string, warn: Warn): JsonObject {
  if (text.trim() === "") return {};
  const object = parseObject(text);
  if (object !== null) return object;
  warn("the arguments of a tool call are not a JSON object and were put under _raw");
  return { _raw: text };
}
