import { bounds, type HeldMemory, type Principal } from "#core/index.ts";
import { type JsonObject, parseSmall, type ScanLimits } from "#protocols/index.ts";
import { readJsonBody } from "./body.ts";
import { type BodyRules, controlBody } from "./body-rules.ts";
import type { ApiDependencies, Exchange } from "./dependencies.ts";

interface ReadObject {
  readonly bytes: Uint8Array;
  readonly text: string;
  readonly value: JsonObject;
}

/** What is built as a value on the event loop holds few of them: names, settings, addresses. */
const limits: ScanLimits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };

/** A JSON body as a value. Throws Failure invalid_json, and what reading it throws. */
async function readJsonObject(
  dependencies: ApiDependencies,
  exchange: Exchange,
  place: HeldMemory,
  rules: BodyRules,
): Promise<ReadObject> {
  const bytes = await readJsonBody(dependencies, exchange, place, rules);
  return { bytes, text: new TextDecoder().decode(bytes), value: parseSmall(bytes, limits) };
}

/** The body of a call that makes something small. */
export async function readControlObject(
  dependencies: ApiDependencies,
  exchange: Exchange,
  principal: Principal,
): Promise<JsonObject> {
  const place = dependencies.memory.open(principal, "request");
  try {
    return (await readJsonObject(dependencies, exchange, place, controlBody)).value;
  } finally {
    place.release();
  }
}
