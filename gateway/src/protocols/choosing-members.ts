import { bounds } from "#core/index.ts";
import { choosingMembers, GovernedNames } from "./governed-names.ts";
import type { Span } from "./json-scan.ts";
import { skimArray, skimObject } from "./json-skim.ts";
import { textOf, wrong } from "./json-value.ts";
import { readSmall } from "./request-members.ts";

/** The names that are looked for in a request's body: those that its dialect reads, and those that choose. */
export function bodyNames(names: readonly string[]): GovernedNames {
  return new GovernedNames([...names, ...choosingMembers]);
}

/** Which of the members found choose a model or multiply the cost; undefined in almost every request. */
export function choosingIn(members: ReadonlyMap<string, Span>): readonly string[] | undefined {
  let found: string[] | undefined;
  for (const name of members.keys()) {
    if (choosingMembers.has(name)) {
      found ??= [];
      found.push(name);
    }
  }
  return found;
}

/**
 * The models that tools name for themselves (a tool that makes pictures, an adviser), of a body whose grammar was checked.
 * A list without the word, however it could be spelt, is not walked.
 */
export function toolModels(body: Uint8Array, tools: Span | undefined): readonly string[] | undefined {
  if (tools === undefined || body[tools.start] !== OPEN_ARRAY) return undefined;
  const bytes = Buffer.from(body.buffer, body.byteOffset + tools.start, tools.end - tools.start);
  if (!bytes.includes(modelName) && !bytes.includes(letterEscape)) return undefined;
  const models: string[] = [];
  for (const { start, end } of skimArray(body, tools, bounds.jsonValuesMax) ?? []) {
    const span = skimObject(body, start, end, wanted)?.get("model");
    const model = span === undefined ? null : readSmall(body, span);
    if (model === null) continue;
    const name = textOf(model);
    if (name === null || name.length > bounds.modelNameBytesMax)
      throw wrong("tools", "must name a tool's model by name");
    models.push(name);
  }
  return models.length === 0 ? undefined : models;
}

const OPEN_ARRAY = 0x5b;
const wanted: ReadonlySet<string> = new Set(["model"]);
const modelName = Buffer.from('"model"');
/** Each letter of the word has a code of this form. */
const letterEscape = Buffer.from("\\u006");
