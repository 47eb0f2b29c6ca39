import { bounds, isLongerThan } from "#core/index.ts";
import type { HostedInput, RequestFacts } from "../dialect.ts";
import { asBuffer } from "../json/bytes.ts";
import {
  COLON,
  LOWER_N,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
  type Span,
  skipSpace,
  skipSpaceBack,
  valueEnd,
} from "../json/cursor.ts";
import { skimArray, skimObject } from "../json/skim.ts";
import { countOf, invalid, isObject, textOf } from "../json/value.ts";
import { mayEscapeNames, walkMembers } from "../json/walk.ts";
import { noServerTools, type ServerToolUse } from "../usage/reading.ts";
import { geminiTools, hostedTools } from "../usage/unseen-costs.ts";
import { readSmall } from "./members.ts";
import type { OpenFacts, RequestBody } from "./request-body.ts";

export type ToolFacts = Pick<RequestFacts, "serverTools" | "namedModels" | "hostedInput" | "opensNetwork">;

/** The upstream's own tools that a call declares, and models named by tools. `places`: lists of tools or single tools in a checked body. */
export function toolFacts(body: Uint8Array, ...places: readonly (Span | undefined)[]): ToolFacts {
  if (places.length === 1 && places[0] === undefined) return noTools;
  const models: string[] = [];
  let serverTools: ServerToolUse | undefined;
  let hostedInput: HostedInput | undefined;
  let opensNetwork: true | undefined;
  for (const { start, end } of places.flatMap((place) => toolsAt(body, place))) {
    const members = skimObject(body, start, end, toolMembers);
    const member = (name: string): unknown => readSmall(body, members?.get(name));
    const named = [...(members?.keys() ?? [])].filter((name) => geminiTools.has(name));
    for (const type of [...named, textOf(member("type")) ?? ""]) {
      const tool = hostedTools.find((one) => one.type.test(type));
      if (tool === undefined) continue;
      const calls = tool.counted === "codeSessions" ? tool.calls : (countOf(member("max_uses")) ?? tool.calls);
      if (tool.counted !== null) {
        const others = tool.counted === "codeSessions" ? 0 : (serverTools?.[tool.counted] ?? 0);
        serverTools = { ...noServerTools, ...serverTools, [tool.counted]: others + calls };
      }
      hostedInput = {
        tokens: (hostedInput?.tokens ?? 0) + calls * tool.tokens,
        pictures: (hostedInput?.pictures ?? 0) + (tool.pictures ?? 0),
      };
    }
    const tool = asBuffer(body).subarray(start, end);
    models.push(...modelsOf(tool));
    if (!ownTools.has(textOf(member("type")) ?? "") && opensHosts(tool)) opensNetwork = true;
  }
  return {
    serverTools,
    hostedInput,
    opensNetwork,
    namedModels: models.length === 0 ? undefined : models.map((model) => ({ param: "tools", model })),
  };
}

const noTools: ToolFacts = Object.freeze({
  serverTools: undefined,
  hostedInput: undefined,
  namedModels: undefined,
  opensNetwork: undefined,
});

/** Tools of the caller. Their schemas may have any member. */
const ownTools: ReadonlySet<string> = new Set(["function", "custom", "namespace"]);

/** A container without a policy, or with a disabled one, reaches no hosts. */
function opensHosts(tool: Buffer): boolean {
  if (!(tool.includes(networkMark) || mayEscapeNames(tool))) return false;
  let isOpen = false;
  walkMembers(tool, networkNames, (_name, start) => {
    if (tool[start] === LOWER_N) return;
    const policy = readSmall(tool, { start, end: valueEnd(tool, start) });
    if (!isObject(policy) || policy["type"] !== "disabled") isOpen = true;
  });
  return isOpen;
}

const networkMark = Buffer.from('"network_policy"');
const networkNames: ReadonlySet<string> = new Set(["network_policy"]);

/** Adds the model named by a top-level object, such as a moderation setting. */
export function addNamedModel(facts: OpenFacts, body: RequestBody, param: string): void {
  const holder = body.get(param);
  if (holder === undefined || body.bytes[holder.start] !== OPEN_OBJECT) return;
  const span = skimObject(body.bytes, holder.start, holder.end, modelNames)?.get("model");
  if (span === undefined) return;
  const model = checkedName(readSmall(body.bytes, span), param);
  facts.namedModels = [...(facts.namedModels ?? []), { param, model }];
}

/** The tools of a list, or the single tool; empty if none can matter. */
function toolsAt(body: Uint8Array, place: Span | undefined): readonly Span[] {
  if (place === undefined) return [];
  const bytes = asBuffer(body).subarray(place.start, place.end);
  if (!(mayDeclareTools(bytes) || mayEscapeNames(bytes))) return [];
  if (bytes[0] !== OPEN_ARRAY) return [place];
  return skimArray(body, place, bounds.jsonValuesMax) ?? [];
}

/** Throws Failure invalid_request for an invalid name. */
function modelsOf(tool: Buffer): readonly string[] {
  if (!(tool.includes(modelMark) || mayEscapeNames(tool))) return [];
  const models: string[] = [];
  walkMembers(tool, modelNames, (_name, start, holder) => {
    const isText = tool[start] === QUOTE;
    if (tool[start] === LOWER_N || (!isText && holder !== 0)) return;
    models.push(checkedName(isText ? readSmall(tool, { start, end: valueEnd(tool, start) }) : null, "tools"));
  });
  return models;
}

function checkedName(model: unknown, param: string): string {
  const name = textOf(model);
  if (name === null || isLongerThan(name, bounds.modelNameCharactersMax)) {
    throw invalid(param, "must name its model with a string");
  }
  return name;
}

const toolMembers: ReadonlySet<string> = new Set(["type", "max_uses", ...geminiTools]);
/** Nested as well: the model that draws, or ranks results. */
const modelNames: ReadonlySet<string> = new Set(["model", "modelName", "model_name"]);

/** Most tools of an agent's request cannot match; this avoids walking them. */
function mayDeclareTools(bytes: Buffer): boolean {
  if (geminiMarks.some((mark) => hasMember(bytes, mark)) || namesModel(bytes)) return true;
  if (bytes.includes(networkMark)) return true;
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

function hasMember(bytes: Buffer, mark: Buffer): boolean {
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    if (bytes[skipSpace(bytes, at + mark.length)] === COLON) return true;
  }
  return false;
}

/** A member whose value names a model, not a schema's property of that name. */
function namesModel(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(modelMark); at !== -1; at = bytes.indexOf(modelMark, at + 1)) {
    const colon = skipSpace(bytes, bytes.indexOf(QUOTE, at + modelMark.length) + 1);
    if (bytes[colon] === COLON && bytes[skipSpace(bytes, colon + 1)] !== OPEN_OBJECT) return true;
  }
  return false;
}

const modelMark = Buffer.from('"model');
const typeName = Buffer.from('"type"');
const typeMarks = [
  "_search",
  "code_",
  "web_fetch",
  '"image_gen',
  '"mcp',
  '"shell"',
  '"retrieval',
  '"programmatic',
  '"google_maps',
  '"url_context',
].map((mark) => Buffer.from(mark));
/** Endings of Gemini's tool names. */
const geminiMarks = [
  ...['Search"', '_search"', 'etrieval"', 'xecution"', 'rlContext"', 'url_context"', 'Maps"', '_maps"'],
  ...['mcpServers"', 'mcp_servers"'],
].map((mark) => Buffer.from(mark));
