import { bounds, isLongerThan } from "#core/index.ts";
import type { RequestFacts } from "./dialect.ts";
import type { Span } from "./json-scan.ts";
import { skimArray, skimObject } from "./json-skim.ts";
import { countOf, textOf, wrong } from "./json-value.ts";
import { readSmall } from "./request-members.ts";
import { noServerTools, type ServerToolUse } from "./server-tools.ts";

export type ToolFacts = Pick<RequestFacts, "serverTools" | "toolModels">;

/**
 * The upstream's own tools that a call declares, and the models that tools name for themselves (a tool that makes pictures, an adviser), of a body whose grammar was checked.
 * A list without the word, however it could be spelt, is not walked.
 */
export function toolFacts(body: Uint8Array, tools: Span | undefined): ToolFacts {
  if (tools === undefined || body[tools.start] !== OPEN_ARRAY) return noTools;
  const bytes = Buffer.from(body.buffer, body.byteOffset + tools.start, tools.end - tools.start);
  if (!(declares(bytes) || bytes.includes(letterEscape))) return noTools;
  const models: string[] = [];
  let serverTools: ServerToolUse | undefined;
  for (const { start, end } of skimArray(body, tools, bounds.jsonValuesMax) ?? []) {
    const members = skimObject(body, start, end, wanted);
    const said = (name: string): unknown => {
      const span = members?.get(name);
      return span === undefined ? null : readSmall(body, span);
    };
    const use = serverToolOf(textOf(said("type")) ?? [...(members?.keys() ?? [])].find((name) => ofGemini.has(name)));
    if (use !== null) {
      const most = countOf(said("max_uses")) ?? bounds.serverToolCallsAssumed;
      serverTools = { ...noServerTools, ...serverTools, [use]: use === "codeSessions" ? 1 : most };
    }
    const model = said("model");
    if (model === null) continue;
    const name = textOf(model);
    if (name === null || isLongerThan(name, bounds.modelNameCharactersMax))
      throw wrong("tools", "must name a tool's model by name");
    models.push(name);
  }
  return { serverTools, toolModels: models.length === 0 ? undefined : models };
}

/** The class that a tool's calls are counted in; null for one that the caller runs itself. */
function serverToolOf(type: string | undefined): keyof ServerToolUse | null {
  if (type === undefined) return null;
  if (/^(?:web_?search|google_?search|x_search|live_search)/i.test(type)) return "webSearches";
  if (/^file_?search/i.test(type)) return "fileSearches";
  return /^code_?(?:interpreter|execution)/i.test(type) ? "codeSessions" : null;
}

const OPEN_ARRAY = 0x5b;
/** Gemini's tools are told by the one member that they have. */
const ofGemini: ReadonlySet<string> = new Set([
  "googleSearch",
  "google_search",
  "googleSearchRetrieval",
  "google_search_retrieval",
  "codeExecution",
  "code_execution",
  "fileSearch",
  "file_search",
]);
const wanted: ReadonlySet<string> = new Set(["model", "type", "max_uses", ...ofGemini]);

/**
 * Whether a walk could find something: tools are most of an agent's request, and hold none of these but in words that are
 * no value of a `type` and no name of a model.
 */
function declares(bytes: Buffer): boolean {
  if (geminiMarks.some((mark) => bytes.includes(mark))) return true;
  for (let at = bytes.indexOf(modelName); at !== -1; at = bytes.indexOf(modelName, at)) {
    at = skipSpace(bytes, at + modelName.length);
    if (bytes[at] === COLON && bytes[skipSpace(bytes, at + 1)] !== OPEN_OBJECT) return true;
  }
  return typeMarks.some((mark) => {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
      const quote = bytes.lastIndexOf(QUOTE, at);
      let before = skipSpaceBack(bytes, quote - 1);
      if (bytes[before] !== COLON) continue;
      before = skipSpaceBack(bytes, before - 1);
      if (bytes.subarray(Math.max(0, before - typeName.length + 1), before + 1).equals(typeName)) return true;
    }
    return false;
  });
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0x21) <= 0x20) at++;
  return at;
}

function skipSpaceBack(bytes: Buffer, from: number): number {
  let at = from;
  while ((bytes[at] ?? 0x21) <= 0x20) at--;
  return at;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const modelName = Buffer.from('"model"');
const typeName = Buffer.from('"type"');
const typeMarks = ["_search", "code_"].map((mark) => Buffer.from(mark));
const geminiMarks = ['"google', '"codeExec', '"fileSearch'].map((mark) => Buffer.from(mark));
/** Each letter of "model" has a code of this form. */
const letterEscape = Buffer.from("\\u006");
const noTools: ToolFacts = { serverTools: undefined, toolModels: undefined };
