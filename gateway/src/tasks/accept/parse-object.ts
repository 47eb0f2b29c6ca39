import { isObject, type JsonObject } from "#protocols/index.ts";

/** The object in a JSON text; null when it is none. Never throws. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
