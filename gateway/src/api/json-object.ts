import { Failure } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { readJsonBody } from "./body.ts";
import type { Exchange } from "./face.ts";

export interface ReadObject {
  readonly text: string;
  readonly value: JsonObject;
}

/** A small JSON body as a value. Throws Failure invalid_json, and what reading it throws. */
export async function readJsonObject(exchange: Exchange): Promise<ReadObject> {
  const text = new TextDecoder().decode(await readJsonBody(exchange.request, exchange.bodies));
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Falls through to the same answer.
  }
  if (!isObject(value)) throw new Failure("invalid_json", "The body is not a JSON object.");
  return { text, value };
}
