import { requestFields } from "@sluice/contract/words";
import { Failure, type UpstreamObjectKind } from "#core/index.ts";
import type { PathFacts, ReplyFacts, RequestFacts } from "../dialect.ts";
import { errorText } from "../errors/upstream-errors.ts";
import type { Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span } from "../json/cursor.ts";
import { JsonInvalid, JsonVariant, type NamesHeard, readSpan, scanObject } from "../json/scan.ts";
import { countOf, missing, misspelt, wrong } from "../json/value.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { addressedMedia, nextDataMember } from "../request/media.ts";
import {
  bodyNames,
  checkedModelName,
  choosingIn,
  MemberChecks,
  readLabel,
  readSmall,
  scanRequest,
} from "../request/members.ts";
import {
  listenFor,
  mediaHeard,
  type NamedObject,
  nestedObjects,
  objectAt,
  objectNames,
} from "../request/named-objects.ts";
import { toolFacts } from "../request/tool-facts.ts";

/** Files and stores of the vendor; an address of anything else is read by nobody's account. */
const ofVendor = /^gs:|googleapis\.com|^(?:files|fileSearchStores)\//i;
const fileNames: readonly string[] = ["fileUri", "file_uri"];
/** Stores to search in. */
const storeNames = bothSpellings([
  ...["fileSearchStoreNames", "ragCorpus", "ragCorpora", "ragFileIds", "datastore", "dataStore", "engine"],
]);
/** Secrets and accounts to sign in with, checks to apply, and places to write an answer to, which are the account's or open to it. */
const resourceNames = bothSpellings([
  ...["apiKeySecret", "apiKeySecretVersion", "credentialSecret", "serviceAccount", "voice"],
  ...["promptTemplateName", "responseTemplateName", "gcsUri", "outputUriPrefix", "outputGcsUri"],
]);
const namesOfGemini = [...fileNames, ...storeNames, ...resourceNames];
export const objectsOfGemini = objectNames(namesOfGemini, namesOfGemini);

/** Those of the account that a checked body names, anywhere but at its top. */
export function geminiObjects(body: Uint8Array, heard: NamesHeard): readonly NamedObject[] {
  return nestedObjects(body, objectsOfGemini, heard)
    .filter(isOfAccount)
    .map((object) => ({ ...object, kind: kindOf(object) }));
}

/** Whether the address is that of a file or store of the vendor's. */
function isVendorFile(address: string): boolean {
  return ofVendor.test(address);
}

/** Addresses of others, and voices that everybody may have, belong to no account. */
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

/** Tokens of JSON text at four bytes each; base64 inside `inlineData` counts as the picture or sound that it is. */
export function estimateTokens(bytes: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start);
  let size = text.length;
  let mediaTokens = 0;
  for (const mark of inlineMarks) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at)) {
      at += mark.length;
      const data = nextDataMember(text, at);
      // Behind a mark without data there is none for the later ones either; to look each time would take the square of it.
      if (data === null) break;
      size -= data.end - data.start;
      mediaTokens += mediaTokensMin + Math.ceil((data.end - data.start) / base64BytesPerToken);
      at = data.end;
    }
  }
  return Math.ceil(size / 4) + mediaTokens;
}

/**
 * A tile of a picture counts 258 tokens, sound 32 and film 263 tokens a second (Gemini API docs, "Understand and count
 * tokens"); about one token for 512 bytes of base64 lies between photographs, speech and scanned pages.
 */
const mediaTokensMin = 258;
const base64BytesPerToken = 512;

const inlineMarks = [Buffer.from('"inlineData"'), Buffer.from('"inline_data"')];

const checks = new MemberChecks(requestFields.generate);

/** The vendor reads both spellings of every name (protobuf's JSON mapping). */
const wanted = bodyNames([
  // The path says it; a body that says it too could say another.
  "model",
  "contents",
  "systemInstruction",
  "system_instruction",
  "tools",
  "generationConfig",
  "generation_config",
  "cachedContent",
  "cached_content",
  "continuationToken",
  "continuation_token",
]);
const wantedConfig = new GovernedNames(["maxOutputTokens", "max_output_tokens", "candidateCount", "candidate_count"]);

/** Reads what governs a generateContent request; the model and whether it streams are said by the path. */
export function readGeminiRequest(body: Uint8Array, path: PathFacts | null): RequestFacts {
  if (path === null) throw missing("model");
  const heard = listenFor(objectsOfGemini);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const contents = members.get("contents");
  const config = eitherOf(members, "generationConfig", "generation_config");
  const instruction = eitherOf(members, "systemInstruction", "system_instruction");
  return {
    model: checkedModelName(path.model),
    modelSpan: null,
    stream: path.stream,
    wantsUsage: true,
    ...(config === undefined ? { outputTokensMax: null } : outputFacts(body, config)),
    inputEstimate: estimateAll(body, [contents, instruction, members.get("tools")]),
    streamOptionsSpan: null,
    // A cache is known to one account only, and is worth something only there.
    affinity: readLabel(body, eitherOf(members, "cachedContent", "cached_content")),
    conversation: { system: instruction, messages: contents },
    continues: null,
    objects: [
      ...objectAt(body, eitherOf(members, "cachedContent", "cached_content"), "cachedContent"),
      ...objectAt(body, eitherOf(members, "continuationToken", "continuation_token"), "continuationToken"),
      ...geminiObjects(body, heard),
    ],
    keeps: null,
    choosing: members.has("model") ? ["model", ...(choosingIn(body, members) ?? [])] : choosingIn(body, members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard, isVendorFile),
  };
}

/** The model is in the path: the body goes on as it is. */
export function geminiEdits(): readonly Edit[] {
  return [];
}

function outputFacts(body: Uint8Array, config: Span): Pick<RequestFacts, "outputTokensMax" | "choices"> {
  if (body[config.start] !== OPEN_OBJECT) return { outputTokensMax: null };
  const inner = body.subarray(config.start, config.end);
  const members = scanConfig(inner);
  const cap = readProtoCount(inner, members, "maxOutputTokens", "max_output_tokens");
  const candidates = readProtoCount(inner, members, "candidateCount", "candidate_count") ?? 1;
  return {
    outputTokensMax: cap === null ? null : cap * candidates,
    ...(candidates > 1 ? { choices: candidates } : {}),
  };
}

/** The vendor reads numbers in texts as well, and 0 as a member that is absent (protobuf's JSON mapping). */
function readProtoCount(
  inner: Uint8Array,
  members: ReadonlyMap<string, Span>,
  camel: string,
  snake: string,
): number | null {
  const span = eitherOf(members, camel, snake);
  const value = span === undefined ? null : readSmall(inner, span);
  if (value === null || value === 0) return null;
  const count = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count === 0 ? null : count;
  throw wrong(`generationConfig.${camel}`, "must be a whole number of at least 0");
}

/** A member in one of its two spellings. In both at once the vendor and we could come to different values. */
function eitherOf(members: ReadonlyMap<string, Span>, camel: string, snake: string): Span | undefined {
  const span = members.get(camel);
  if (span === undefined) return members.get(snake);
  if (members.has(snake)) throw wrong(snake, `stands beside "${camel}", which is the same parameter`);
  return span;
}

/** The whole body was checked before, so what is left to object to is a member that stands twice. */
function scanConfig(inner: Uint8Array): Map<string, Span> {
  try {
    return scanObject(inner, wantedConfig, wantedConfig);
  } catch (thrown) {
    if (thrown instanceof JsonVariant) throw misspelt(thrown.member, thrown.meant);
    if (!(thrown instanceof JsonInvalid)) throw thrown;
    throw new Failure("invalid_request", `generationConfig is not valid: ${thrown.message}.`, {
      param: "generationConfig",
    });
  }
}

function estimateAll(body: Uint8Array, spans: readonly (Span | undefined)[]): number {
  let tokens = 0;
  for (const span of spans) if (span !== undefined) tokens += estimateTokens(body, span);
  return tokens;
}

const countChecks = new MemberChecks(requestFields["gemini-count-tokens"]);

const wrapping = bodyNames(["model", "contents", "generateContentRequest", "generate_content_request"]);
const wrapped = new GovernedNames(["model"]);

/**
 * Reads a countTokens request: `contents` alone, or a whole `generateContentRequest`, which names its model once more.
 * Source: Gemini API reference, models.countTokens.
 */
export function readGeminiCount(body: Uint8Array, path: PathFacts | null): RequestFacts {
  const members = scanRequest(body, wrapping);
  const inner = eitherOf(members, "generateContentRequest", "generate_content_request");
  if (inner === undefined) return { ...readGeminiRequest(body, path), outputTokensMax: 0 };
  if (members.has("contents"))
    throw wrong("contents", "stands beside generateContentRequest: only one of them is counted");
  // Under its other name it is no member of the table.
  countChecks.check(body, new Map([["generateContentRequest", inner]]));
  const request = body.subarray(inner.start, inner.end);
  const named = scanRequest(request, wrapped).get("model");
  const { choosing: _, ...facts } = readGeminiRequest(request, path);
  return {
    ...facts,
    outputTokensMax: 0,
    modelSpan: named === undefined ? null : { start: inner.start + named.start, end: inner.start + named.end },
    choosing: members.has("model") ? ["model"] : undefined,
  };
}

/** The request that is to be counted, out of what may be wrapped around it. */
export function innerRequest(body: Uint8Array): Uint8Array {
  try {
    const members = scanObject(body, wrapping);
    const inner = members.get("generateContentRequest") ?? members.get("generate_content_request");
    return inner === undefined ? body : body.subarray(inner.start, inner.end);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) return body;
    throw thrown;
  }
}

/** The model that the inner request names has to be the path's. */
export function geminiCountEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (facts.modelSpan === null) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(`models/${upstreamModel}`) }];
}

/** Reads the answer of a count: it used nothing. Zeros may be left out of it. */
export function readGeminiCountReply(body: Uint8Array): ReplyFacts {
  const members = scanReply(body);
  const total = members.get("totalTokens");
  const error = members.get("error");
  if (total !== undefined && countOf(readSpan(body, total)) === null) throw notACount();
  return {
    usage: null,
    errorMessage: total === undefined && error !== undefined ? errorText(readSpan(body, error)) : null,
    outputEstimate: 0,
    id: null,
  };
}

const wantedReply: ReadonlySet<string> = new Set(["totalTokens", "error"]);

function scanReply(body: Uint8Array): ReadonlyMap<string, Span> {
  try {
    return scanObject(body, wantedReply);
  } catch (thrown) {
    if (thrown instanceof JsonInvalid) throw notACount(thrown);
    throw thrown;
  }
}

function notACount(cause?: unknown): Failure {
  return new Failure("upstream_error", "The upstream's answer is not a count of tokens.", {
    retry: "other",
    unhealthy: true,
    cause,
  });
}
