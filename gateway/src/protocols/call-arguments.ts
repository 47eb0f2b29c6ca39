import type { Warn } from "./codec.ts";
import { type JsonObject, parseObject } from "./json-value.ts";

/** Arguments as the neutral form has them: always JSON text. Vendors leave them out, or empty, for a tool that takes none. */
export function wholeArguments(text: string): string {
  return text.trim() === "" ? "{}" : text;
}

/** The arguments of a call where a dialect wants an object. Text that is no object goes under `_raw`, so that nothing is lost. */
export function argumentsObject(text: string, warn: Warn): JsonObject {
  const object = parseObject(text);
  if (object !== null) return object;
  warn("the arguments of a tool call are not a JSON object and were put under _raw");
  return { _raw: text };
}
