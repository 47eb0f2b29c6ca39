import { Failure } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { readJsonBody } from "./body.ts";
import type { Exchange } from "./face.ts";

export interface ReadObject {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: JsonObject;
}

/** A small JSON body as a value. Throws Failure invalid_json, and what reading it throws. */
export async function readJsonObject(exchange: Exchange): Promise<ReadObject> {
  const bytes = await readJsonBody(exchange.request, exchange.bodies);
  const text = new TextDecoder().decode(bytes);
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // Falls through to the same answer.
  }
  if (!isObject(value)) throw new Failure("invalid_json", "The body is not a JSON object.");
  return { bytes, text, value };
}
