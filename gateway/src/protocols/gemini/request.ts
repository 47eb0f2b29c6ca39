import { requestFields } from "@sluice/contract/words";
import { Failure, storedFileId, type UpstreamObjectKind } from "#core/index.ts";
import type { PathFacts, RequestFacts } from "../dialect.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { JsonCaseVariant, JsonInvalid, type ScanFindings, scanIfObject, scanObject } from "../json/scan.ts";
import { invalid, missingParam, misspelled } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { countMediaByUrl, nextDataMember } from "../request/media.ts";
import { bodyNames, checkedModelName, MemberChecks, readLabel, readSmall, scanRequest } from "../request/members.ts";
import { type NamedObject, nestedObjects, objectNames, objectsAt } from "../request/named-objects.ts";
import { BodyReader, type OpenFacts } from "../request/request-body.ts";
import { toolFacts } from "../request/tool-facts.ts";

/** Google's files and stores. Other URLs belong to no account. */
const googleFilePattern = /^gs:|googleapis\.com|^(?:files|fileSearchStores)\//i;
const fileNames: readonly string[] = ["fileUri", "file_uri"];
const storeNames = bothSpellings([
  ...["fileSearchStoreNames", "ragCorpus", "ragCorpora", "ragFileIds", "datastore", "dataStore", "engine"],
]);
/** Secrets, sign-in accounts, checks and output locations that belong to the account. */
const resourceNames = bothSpellings([
  ...["apiKeySecret", "apiKeySecretVersion", "credentialSecret", "serviceAccount", "voice"],
  ...["promptTemplateName", "responseTemplateName", "gcsUri", "outputUriPrefix", "outputGcsUri"],
]);
const namesOfGemini = [...fileNames, ...storeNames, ...resourceNames];
export const objectsOfGemini = objectNames(namesOfGemini, namesOfGemini);

/** The account's objects that a checked body names below its top level. */
export function geminiObjects(body: Uint8Array, scanned: ScanFindings): readonly NamedObject[] {
  const named = nestedObjects(body, objectsOfGemini, scanned);
  return named.filter(isOfAccount).map((object) => ({ ...object, kind: kindOf(object) }));
}

/** Also a file that the gateway stores: the account gets a copy. */
export function isVendorFile(address: string): boolean {
  return googleFilePattern.test(address) || storedFileId(address) !== null;
}

/** External URLs and public voices belong to no account. */
function isOfAccount({ param, id }: NamedObject): boolean {
  if (param === "voice") return /^voices?[_/]/i.test(id);
  return !fileNames.includes(param) || isVendorFile(id);
}

function kindOf({ param }: NamedObject): UpstreamObjectKind {
  if (fileNames.includes(param)) return "file";
  return storeNames.includes(param) ? "vector_store" : "resource";
}

function bothSpellings(names: readonly string[]): readonly string[] {
  const snake = names.map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  return [...new Set([...names, ...snake])];
}

/** One token for four bytes; base64 in `inlineData` counts as media. */
export function estimateTokens(bytes: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start);
  let size = text.length;
  let mediaTokens = 0;
  for (const mark of inlineMarks) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at)) {
      at += mark.length;
      const data = nextDataMember(text, at);
      // Later marks have no data either; searching again would be quadratic.
      if (data === null) break;
      size -= data.end - data.start;
      mediaTokens += mediaTokensMin + Math.ceil((data.end - data.start) / base64BytesPerToken);
      at = data.end;
    }
  }
  return Math.ceil(size / 4) + mediaTokens;
}

/**
 * A picture tile is 258 tokens, audio 32 and video 263 tokens a second (Gemini API docs, "Understand and count tokens"). One token for
 * 512 bytes of base64 lies between photos, speech and scanned pages.
 */
const mediaTokensMin = 258;
const base64BytesPerToken = 512;
const inlineMarks = [Buffer.from('"inlineData"'), Buffer.from('"inline_data"')];

/** Protobuf's JSON mapping accepts both. */
type Spellings = readonly [camel: string, snake: string];
const configNames: Spellings = ["generationConfig", "generation_config"];
const instructionNames: Spellings = ["systemInstruction", "system_instruction"];
const cacheNames: Spellings = ["cachedContent", "cached_content"];
const continuationNames: Spellings = ["continuationToken", "continuation_token"];
const outputCapNames: Spellings = ["maxOutputTokens", "max_output_tokens"];
const candidateCountNames: Spellings = ["candidateCount", "candidate_count"];
const innerRequestNames: Spellings = ["generateContentRequest", "generate_content_request"];

/** The path names the model; the body could name another. */
const bodies = new BodyReader(
  requestFields.generate,
  ["model", "tools", ...configNames, ...instructionNames, ...cacheNames, ...continuationNames],
  objectsOfGemini,
);
const wantedConfig = new GovernedNames([...outputCapNames, ...candidateCountNames]);

export function readGeminiRequest(bytes: Uint8Array, path: PathFacts | null): OpenFacts {
  if (path === null) throw missingParam("model");
  const body = bodies.read(bytes);
  const contents = body.get("contents");
  const system = eitherOf(body.members, instructionNames);
  const cache = eitherOf(body.members, cacheNames);
  const tools = body.get("tools");
  const estimate = estimateTokens(bytes, contents) + estimateTokens(bytes, system) + estimateTokens(bytes, tools);
  const facts = body.facts(estimate, checkedModelName(path.model));
  if (facts.modelSpan !== null) facts.governed = ["model", ...(facts.governed ?? [])];
  facts.modelSpan = null;
  facts.stream = path.stream;
  addOutput(bytes, eitherOf(body.members, configNames), facts);
  // Only one account has the cache.
  facts.affinity = readLabel(bytes, cache);
  facts.conversation = { system, messages: contents, longStrings: body.longStrings };
  facts.objects = [
    ...objectsAt(bytes, cache, "cachedContent"),
    ...objectsAt(bytes, eitherOf(body.members, continuationNames), "continuationToken"),
    ...geminiObjects(bytes, body),
  ];
  facts.mayHoldMedia = body.namesMedia;
  facts.mediaByUrl = countMediaByUrl(bytes, body, isVendorFile);
  return Object.assign(facts, toolFacts(bytes, tools));
}

function addOutput(bytes: Uint8Array, span: Span | undefined, facts: OpenFacts): void {
  if (span === undefined || bytes[span.start] !== OPEN_OBJECT) return;
  const inner = bytes.subarray(span.start, span.end);
  const members = scanConfig(inner);
  const cap = readProtoCount(inner, members, outputCapNames);
  const candidates = readProtoCount(inner, members, candidateCountNames) ?? 1;
  if (cap !== null) facts.outputTokensMax = cap * candidates;
  if (candidates > 1) facts.choices = candidates;
}

/** Numbers may be strings, and 0 means absent (protobuf's JSON mapping). */
function readProtoCount(inner: Uint8Array, members: ReadonlyMap<string, Span>, names: Spellings): number | null {
  const value = readSmall(inner, eitherOf(members, names));
  if (value === null) return null;
  const count = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count === 0 ? null : count;
  throw invalid(`generationConfig.${names[0]}`, "must be an integer of at least 0");
}

/** Refuses both spellings at once, since readers could disagree. */
function eitherOf(members: ReadonlyMap<string, Span>, [camel, snake]: Spellings): Span | undefined {
  const span = members.get(camel);
  if (span === undefined) return members.get(snake);
  if (members.has(snake)) throw invalid(snake, `conflicts with "${camel}": both are the same parameter`);
  return span;
}

/** The body was checked before, so only a duplicate member can fail. */
function scanConfig(inner: Uint8Array): Map<string, Span> {
  try {
    return scanObject(inner, wantedConfig, wantedConfig);
  } catch (thrown) {
    if (thrown instanceof JsonCaseVariant) throw misspelled(thrown.member, thrown.governedName);
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    const why = `generationConfig is not valid: ${thrown.message}.`;
    throw new Failure("invalid_request", why, { param: "generationConfig" });
  }
}

const countChecks = new MemberChecks(requestFields["gemini-count-tokens"]);
const countMembers = bodyNames(["model", "contents", ...innerRequestNames]);
const innerMembers = new GovernedNames(["model"]);

/**
 * Reads a countTokens request: `contents`, or a `generateContentRequest` that names its model again. Source: Gemini API reference,
 * models.countTokens.
 */
export function readGeminiCount(body: Uint8Array, path: PathFacts | null): RequestFacts {
  const members = scanRequest(body, countMembers);
  const inner = eitherOf(members, innerRequestNames);
  if (inner === undefined) return { ...readGeminiRequest(body, path), outputTokensMax: 0 };
  if (members.has("contents")) throw invalid("contents", "cannot be combined with generateContentRequest");
  // The table knows only the first spelling.
  countChecks.check(body, new Map([["generateContentRequest", inner]]));
  const request = body.subarray(inner.start, inner.end);
  const named = scanRequest(request, innerMembers).get("model");
  return {
    ...readGeminiRequest(request, path),
    outputTokensMax: 0,
    modelSpan: named === undefined ? null : { start: inner.start + named.start, end: inner.start + named.end },
    governed: members.has("model") ? ["model"] : undefined,
  };
}

export function innerRequest(body: Uint8Array): Uint8Array {
  const members = scanIfObject(body, countMembers);
  const inner = members?.get(innerRequestNames[0]) ?? members?.get(innerRequestNames[1]);
  return inner === undefined ? body : body.subarray(inner.start, inner.end);
}
