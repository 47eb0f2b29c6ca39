import { Failure } from "#core/index.ts";
import { isObject, type JsonObject } from "#protocols/index.ts";
import { readJsonBody } from "./body.ts";
import type { BodyPlace } from "./body-room.ts";
import { type BodyRules, controlBody } from "./body-rules.ts";
import type { Exchange, Face } from "./face.ts";

export interface ReadObject {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: JsonObject;
}

/** A JSON body as a value. Throws Failure invalid_json, and what reading it throws. */
export async function readJsonObject(exchange: Exchange, place: BodyPlace, rules: BodyRules): Promise<ReadObject> {
  const bytes = await readJsonBody(exchange, place, rules);
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

/** The body of a call that makes something small. */
export async function readControlObject(face: Face, exchange: Exchange): Promise<JsonObject> {
  const place = face.bodyRoom.open();
  try {
    return (await readJsonObject(exchange, place, controlBody)).value;
  } finally {
    place.release();
  }
}
