import { isObject, type JsonObject, objectOf, objectsOf } from "../json-body.ts";

/** Field names are in camel case or, from some clients, in snake case. */
export function field(object: JsonObject, name: string): unknown {
  return object[name] ?? object[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

export function contentsOf(turn: JsonObject): readonly JsonObject[] {
  return objectsOf(turn["contents"]);
}

export function partsOf(content: unknown): readonly JsonObject[] {
  const { parts } = objectOf(content);
  return isObject(parts) ? [parts] : objectsOf(parts);
}
