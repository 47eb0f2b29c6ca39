import { type JsonObject, parseObject, textOf } from "../json/value.ts";

/**
 * A tool's result as the object that Gemini wants. Text that is a JSON object is that object; any other text stands
 * under `result`, an error's under `error`.
 */
export function writeResponse(text: string, isError: boolean): JsonObject {
  if (isError) return { error: text };
  return objectIn(text) ?? { result: text };
}

/** What `writeResponse` was given. The vendor's own word for a plain result is `output`. */
export function readResponse(response: JsonObject): { readonly text: string; readonly isError: boolean } {
  const wrapped = wrapperOf(response);
  const value = wrapped === null ? null : response[wrapped];
  // Details of an error may be more than a text (@google/genai, FunctionResponse.response).
  if (wrapped === "error" && value) return { text: textOf(value) ?? JSON.stringify(value), isError: true };
  return { text: textOf(value) ?? JSON.stringify(response), isError: false };
}

/** Numbers longer than a double holds, such as the ids of some services, would be changed by parsing them. */
const longNumber = /\d{16}/;

function objectIn(text: string): JsonObject | null {
  if (!/^\s*\{/.test(text) || longNumber.test(text)) return null;
  const object = parseObject(text);
  return object === null || wrapperOf(object) !== null ? null : object;
}

/** The member that an object consists of, when it is one of those that wrap a text. */
function wrapperOf(object: JsonObject): string | null {
  const [name, ...others] = Object.keys(object);
  if (name === undefined || others.length > 0) return null;
  return name === "result" || name === "output" || name === "error" ? name : null;
}
