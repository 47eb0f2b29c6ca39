import { requestFields } from "@sluice/contract/words";
import { bounds } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { isVendorFile } from "../gemini/request.ts";
import { asBuffer } from "../json/bytes.ts";
import { OPEN_OBJECT, QUOTE, type Span } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { skimObject } from "../json/skim.ts";
import { countOf, invalid, missingParam, misspelled, textOf } from "../json/value.ts";
import { mayEscapeNames, textAt, walkObjects } from "../json/walk.ts";
import { type MediaByUrl, nextDataMember } from "../request/media.ts";
import { readSmall } from "../request/members.ts";
import { type NamedObject, namedObject, nestedObjects, objectNames } from "../request/named-objects.ts";
import { BodyReader, type OpenFacts, type RequestBody } from "../request/request-body.ts";
import { toolFacts } from "../request/tool-facts.ts";
import { continuationId } from "./continuation.ts";

/** Members of tools, settings and environments that name something of the account. */
const stores = ["file_search_store_names", "rag_corpus", "rag_file_ids", "datastores", "engine"];
const resources = ["voice", "gcs_uri", "credential", "source"];
const nestedNames = [...stores, ...resources, "environment_id"].flatMap(bothSpellings);
export const objectsOfInteractions = objectNames(
  [...nestedNames, "uri"],
  ['"uri"', ...nestedNames.map((name) => `"${name}"`)],
);

/** Members that decide where a call goes and who may make it. */
const stateMembers = ["previous_interaction_id", "cached_content", "continuation_token", "environment", "agent_config"];
const readMembers = [
  ...["system_instruction", "tools", "generation_config", "response_format", "store", "background"],
  ...stateMembers,
];
/** Protobuf's JSON mapping accepts these, too. A member that the gateway does not read must not reach the account. */
const camelMembers: ReadonlyMap<string, string> = new Map(
  readMembers.flatMap((name) => bothSpellings(name).slice(1)).map((camel) => [camel, snakeOf(camel)]),
);
const bodies = new BodyReader(
  requestFields.interactions,
  [...readMembers, ...camelMembers.keys()],
  objectsOfInteractions,
);

/** Source: @google/genai, CreateModelInteraction and CreateAgentInteraction. */
export function readInteractionRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  for (const [camel, snake] of camelMembers) if (body.get(camel) !== undefined) throw misspelled(camel, snake);
  const agent = body.nonNull("agent");
  const model = body.nonNull("model");
  if (agent !== null && model !== null) throw invalid("agent", 'cannot be combined with "model"');
  if (agent === null && body.get("model") === undefined) throw missingParam("model");
  const input = body.get("input");
  const continues = textIn(body, "previous_interaction_id");
  const token = textIn(body, "continuation_token");
  if (body.nonNull("input") === null && continues === null && token === null) throw missingParam("input");
  const system = body.get("system_instruction");
  const tools = body.get("tools");
  const estimate = [input, system, tools].reduce((sum, span) => sum + estimateContent(bytes, span), 0);
  const facts =
    agent === null ? body.facts(estimate) : { ...body.facts(estimate, nameOf(bytes, agent)), modelSpan: agent };
  facts.stream = body.isOn("stream");
  facts.outputTokensMax = outputCap(body);
  facts.conversation = { system, messages: input, longStrings: body.longStrings };
  if (continues !== null) facts.continues = namedObject("previous_interaction_id", continues);
  const isBackground = body.isOn("background");
  if (isBackground) facts.background = true;
  const store = body.get("store");
  if (isBackground || store === undefined || readSmall(bytes, store) !== false) facts.storesAs = "interaction";
  // Only one account has the cache.
  facts.affinity = body.label("cached_content");
  addObjects(body, facts, token);
  return Object.assign(facts, toolFacts(bytes, tools));
}

/** One token for four bytes; base64 in `data` counts as media. */
export function estimateContent(bytes: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  const text = asBuffer(bytes).subarray(span.start, span.end);
  let size = text.length;
  let mediaTokens = 0;
  for (let data = nextDataMember(text, 0); data !== null; data = nextDataMember(text, data.end)) {
    const length = data.end - data.start;
    if (length < base64BytesMin) continue;
    size -= length;
    mediaTokens += mediaTokensMin + Math.ceil(length / base64BytesPerToken);
  }
  return Math.ceil(size / 4) + mediaTokens;
}

/** As in generateContent: between photos, speech and scanned pages. */
const mediaTokensMin = 258;
const base64BytesPerToken = 512;
const base64BytesMin = 1_024;

function nameOf(bytes: Uint8Array, span: Span): string {
  return textOf(readSmall(bytes, span)) ?? "";
}

/** A text that selects an account. Throws Failure invalid_request for one that is longer than any vendor's. */
function textIn(body: RequestBody, name: string): string | null {
  const span = body.nonNull(name);
  if (span === null) return null;
  if (span.end - span.start > bounds.interactionTokenBytesMax) throw invalid(name, "is too long");
  const text = textOf(readSpan(body.bytes, span));
  return text === null || text === "" ? null : text;
}

/** An agent's cap is on all its tokens. */
function outputCap(body: RequestBody): number | null {
  const config = membersOf(body, "generation_config", capNames);
  const cap = countOf(readSmall(body.bytes, config?.get("max_output_tokens")));
  const agent = membersOf(body, "agent_config", capNames);
  const total = countOf(Number(readSmall(body.bytes, agent?.get("max_total_tokens")) ?? Number.NaN));
  return [cap, total].find((one) => one !== null && one > 0) ?? null;
}

const capNames: ReadonlySet<string> = new Set(["max_output_tokens", "max_total_tokens"]);

/** Members of a top-level object. Throws Failure invalid_request for a duplicate, which readers could read differently. */
function membersOf(body: RequestBody, name: string, wanted: ReadonlySet<string>): Map<string, Span> | null {
  const span = body.get(name);
  if (span === undefined || body.bytes[span.start] !== OPEN_OBJECT) return null;
  return skimObject(body.bytes, span.start, span.end, wanted, (member) => {
    throw invalid(name, `has a duplicate member "${member}"`);
  });
}

function addObjects(body: RequestBody, facts: OpenFacts, token: string | null): void {
  const { bytes } = body;
  const found: NamedObject[] = [];
  const cache = textIn(body, "cached_content");
  if (cache !== null) found.push(namedObject("cached_content", cache));
  if (token !== null) {
    // The interaction that the call continues, if it names one, decides the account.
    const kind = facts.continues === null ? "cache" : "resource";
    found.push({ param: "continuation_token", id: continuationId(token), kind });
  }
  const session = textOf(readSmall(bytes, membersOf(body, "agent_config", sessionNames)?.get("session_id")));
  if (session !== null && session !== "") found.push({ param: "session_id", id: session, kind: "container" });
  const environment = body.get("environment");
  const named = environment !== undefined && bytes[environment.start] === QUOTE ? textIn(body, "environment") : null;
  if (named !== null && named !== newEnvironment) found.push({ param: "environment", id: named, kind: "container" });
  for (const name of ["tools", "generation_config", "response_format", "environment"]) {
    found.push(...nestedIn(body, body.get(name)));
  }
  addMedia(body, facts, found);
  facts.objects = found;
}

const sessionNames: ReadonlySet<string> = new Set(["session_id"]);
/** Asks for an environment instead of naming one. */
const newEnvironment = "remote";

function nestedIn(body: RequestBody, span: Span | undefined): readonly NamedObject[] {
  if (span === undefined || body.classes === 0) return [];
  const found = { classes: body.classes, longStrings: null };
  return nestedObjects(body.bytes.subarray(span.start, span.end), objectsOfInteractions, found).flatMap((object) => {
    const param = snakeOf(object.param);
    const isOthers =
      (param === "voice" && !/^voices?[_/]/i.test(object.id)) || (param === "source" && !isVendorFile(object.id));
    if (isOthers || param === "uri") return [];
    const isStore = stores.includes(param);
    const kind = isStore ? "vector_store" : param === "environment_id" ? "container" : "resource";
    return [{ ...object, param, kind } as const];
  });
}

/** Media of contents: files of the account, and addresses that the upstream reads. */
export function addMedia(body: RequestBody, facts: OpenFacts, found: NamedObject[]): void {
  facts.mayHoldMedia = body.namesMedia;
  const bytes = asBuffer(body.bytes);
  if (body.classes === 0 || !(bytes.includes(uriMark) || mayEscapeNames(bytes))) return;
  const byUrl = { pictures: 0, others: 0 } satisfies { -readonly [Name in keyof MediaByUrl]: number };
  const tooMany = walkObjects(
    bytes,
    uriOnly,
    bounds.namedObjectsMax * 10,
    ({ start }, { type, mimeType, hasTwoTypes }) => {
      const kind = type === -1 ? "" : (textAt(bytes, type) ?? "");
      // Objects of the caller's own results may have such a member, too.
      if (!(mediaTypes.has(kind) || mimeType !== -1 || hasTwoTypes) || bytes[start] !== QUOTE) return;
      const uri = textAt(bytes, start);
      if (uri === null) throw invalid("uri", "is longer than any address");
      const isPicture = kind === "image";
      if (!isVendorFile(uri)) byUrl[isPicture ? "pictures" : "others"]++;
      else found.push({ param: "uri", id: uri, kind: "file", ...(isPicture ? { isPicture } : {}) });
      if (found.length > bounds.namedObjectsMax)
        throw invalid("uri", `names more than ${bounds.namedObjectsMax} files`);
    },
    body.longStrings,
  );
  if (tooMany !== null) throw invalid("input", "has too many addresses");
  facts.mayHoldMedia = true;
  if (byUrl.pictures + byUrl.others > 0) facts.mediaByUrl = byUrl;
}

const uriOnly: ReadonlySet<string> = new Set(["uri"]);
const uriMark = Buffer.from("uri");
const mediaTypes: ReadonlySet<string> = new Set(["image", "audio", "document", "video"]);

function bothSpellings(name: string): readonly string[] {
  return [...new Set([name, name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())])];
}

function snakeOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
