import { bounds } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import { LOWER_N, OPEN_ARRAY, type Span } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { textOf, wrong } from "../json/value.ts";
import { type NamedObject, namedObject } from "../request/named-objects.ts";

/** Items of one stored answer that later calls may refer to. */
const keptItemsMax = 256;

/** The ids of the items of one answer, by which later calls may name them. */
export class ItemIds {
  readonly #ids: string[] = [];

  get all(): readonly string[] {
    return this.#ids;
  }

  /** The whole array of items. */
  takeAll(bytes: Uint8Array, output: Span): this {
    for (const item of skimArray(bytes, output, keptItemsMax) ?? []) this.take(bytes, item);
    return this;
  }

  take(bytes: Uint8Array, { start, end }: Span): void {
    if (this.#ids.length === keptItemsMax) return;
    const id = textOf(skimValue(bytes, skimObject(bytes, start, end, idOnly)?.get("id")));
    if (id !== null) this.#ids.push(id);
  }
}

/**
 * Items of earlier answers that an input names in the place of what they hold: references, whose type may be left out, and drawn
 * pictures without their bytes. Source: OpenAI API reference, "Create a model response"; guide "Image generation".
 */
export function itemReferences(body: Uint8Array, input: Span | undefined): readonly NamedObject[] {
  if (input === undefined || body[input.start] !== OPEN_ARRAY) return none;
  const bytes = asBuffer(body);
  const found: NamedObject[] = [];
  for (const { start, end } of skimArray(bytes, input, bounds.jsonValuesMax) ?? []) {
    const members = skimObject(bytes, start, end, referenceMembers, standsTwice);
    const id = textOf(skimValue(bytes, members?.get("id")));
    if (id === null) continue;
    const type = textOf(skimValue(bytes, members?.get("type")));
    const isReference =
      type === "item_reference" ||
      (type === null && members?.has("role") === false) ||
      (type === "image_generation_call" && isNull(bytes, members?.get("result")));
    if (!isReference) continue;
    found.push(namedObject("input", id));
    if (found.length > bounds.namedObjectsMax)
      throw wrong("input", `refers to more than ${bounds.namedObjectsMax} items`);
  }
  return found;
}

/** Two readers could disagree on which one counts. */
function standsTwice(name: string): never {
  throw wrong("input", `has an item in which "${name}" stands twice`);
}

function isNull(bytes: Uint8Array, span: Span | undefined): boolean {
  return span === undefined || bytes[span.start] === LOWER_N;
}

const idOnly: ReadonlySet<string> = new Set(["id"]);
const referenceMembers: ReadonlySet<string> = new Set(["id", "type", "role", "result"]);
const none: readonly NamedObject[] = [];
