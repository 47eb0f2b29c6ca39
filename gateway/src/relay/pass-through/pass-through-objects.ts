import { type AttemptObject, Failure, type HeaderReader, noSuchObject, type UpstreamObjectKind } from "#core/index.ts";
import {
  countOf,
  isJsonType,
  isObject,
  type JsonObject,
  type NamedObject,
  objectOf,
  parseObject,
} from "#protocols/index.ts";
import { allowsObject } from "#providers/index.ts";
import { guessFile } from "../attempt/hold.ts";
import { copyHeaders } from "../attempt/outbound.ts";
import type { Call, RelayDependencies } from "../call.ts";
import { checkObjectBody, checkOwnFiles, conversationTokens } from "../vendor-objects/object-bodies.ts";
import type { PassThroughCall, PassThroughField, PassThroughRoute } from "./pass-through-call.ts";

/**
 * At an account that several workspaces share, path and body may name only objects that the call's workspace made or the operator has
 * listed, and lists are refused. Throws Failure not_found or forbidden.
 */
export async function checkCallObjects(dependencies: RelayDependencies, passed: PassThroughCall): Promise<void> {
  const { call, route, isRead, method, body } = passed;
  if (route.owned?.isPublic === true) return;
  if (route.owned !== undefined) {
    const named = unreadObjects(passed);
    await checkObjectBody(dependencies, passed, named);
    return await checkOwned(dependencies, call, route, named);
  }
  const { continues, objects = [] } = call.facts;
  const isOpen = allowsAll(route);
  const inBody = isRead
    ? [...(continues === null ? [] : [continues]), ...objects]
    : isOpen
      ? readObjects(passed)
      : unreadObjects(passed);
  await checkOwnFiles(dependencies, passed, inBody);
  if (isOpen) return;
  if (pathObjects(route.target.parts).isList && body === null && (method === "GET" || method === "HEAD")) {
    const message =
      "This account is shared by several workspaces, so its lists are not passed on. Ask for objects by their ids.";
    throw new Failure("forbidden", message, { param: "path" });
  }
  await checkOwned(dependencies, call, route, inBody);
}

/** The same for the path alone, before a large body is read. */
export async function checkPathObjects(
  dependencies: RelayDependencies,
  call: Call,
  route: PassThroughRoute,
): Promise<void> {
  if (!allowsAll(route)) await checkOwned(dependencies, call, route, []);
}

function allowsAll({ provider, isShared }: PassThroughRoute): boolean {
  return !isShared || allowsObject(provider, "");
}

async function checkOwned(
  dependencies: RelayDependencies,
  call: Call,
  { provider, target }: PassThroughRoute,
  inBody: readonly NamedObject[],
): Promise<void> {
  const { ids } = pathObjects(target.parts);
  const named = [...ids.slice(0, 1), ...inBody];
  const unlisted = named.filter(({ id }) => !allowsObject(provider, id) && call.files?.has(id) !== true);
  if (unlisted.length === 0) return;
  const { workspace } = call.principal;
  const options = { waits: true, signal: call.signal };
  const all = [...unlisted, ...ids].map(({ id }) => id);
  const found = call.kept?.found ?? (await dependencies.upstreamObjects.find(workspace.id, all, options));
  const owns = (id: string): boolean => found.get(id)?.provider === provider.id;
  for (const object of unlisted) {
    // The path's object may be recorded in any of its spellings.
    if (owns(object.id) || (object === ids[0] && ids.some(({ id }) => owns(id) || allowsObject(provider, id))))
      continue;
    throw noSuchObject(object);
  }
}

/** The objects that a successful call has deleted, or the upload that it has started. */
export function objectsOfHead(passed: PassThroughCall, headers: HeaderReader, now: number): readonly AttemptObject[] {
  const { route, method } = passed;
  const { target } = route;
  if (target.isUpload) {
    const id = uploadSession(headers)?.id ?? null;
    return id === null ? [] : [{ id, kind: "other", inputTokens: null, expiresAt: now + sessionLifeMs }];
  }
  if (method !== "DELETE" || !deletesWhole(target.parts)) return usedObjects(passed);
  return pathObjects(target.parts).ids.map(({ id, kind }) => ({ id, kind, inputTokens: null, expiresAt: now }));
}

/** A conversation that has grown, or a container that was used: its next use is charged from now on. */
function usedObjects(passed: PassThroughCall): readonly AttemptObject[] {
  const { route, method, body } = passed;
  const object = route.owned?.object ?? null;
  if (object === null) return [];
  const { id, kind, expiresAt, inputTokens } = object;
  if (kind === "container") return [{ id, kind, expiresAt, inputTokens }];
  if (kind !== "conversation" || method !== "POST" || body === null || route.target.parts.at(-1) !== "items") return [];
  return [{ id, kind, expiresAt, inputTokens: conversationTokens(passed) }];
}

/** The objects that a call has created, read from its JSON answer. */
export function madeObjects(passed: PassThroughCall, body: Uint8Array): readonly AttemptObject[] {
  const { route, method } = passed;
  const { ids, collection } = pathObjects(route.target.parts);
  if (method !== "POST" || ids.length > 0) return [];
  const answer = parseObject(new TextDecoder().decode(body));
  const made = isObject(answer?.["file"]) ? answer["file"] : answer;
  const id = made?.["id"] ?? made?.["name"];
  if (made === null || made === undefined || typeof id !== "string") return [];
  const kind = collections.get(collection) ?? "other";
  const inputTokens =
    kind === "conversation" && route.owned !== undefined ? conversationTokens(passed) : tokensIn(made);
  const object = { kind, inputTokens, expiresAt: expiryIn(made) };
  const { uri } = made;
  return (typeof uri === "string" ? [id, uri] : [id]).map((one) => ({ ...object, id: one }));
}

export function makesObjects({ route, method }: PassThroughCall): boolean {
  return method === "POST" && pathObjects(route.target.parts).isList;
}

/** The response or interaction that a call will cancel or delete; else null. */
export function endedResponse({ route, method }: PassThroughCall): string | null {
  if (method !== "POST" && method !== "DELETE") return null;
  const [named] = pathObjects(route.target.parts).ids;
  return named?.kind === "response" || named?.kind === "interaction" ? named.id : null;
}

interface PathObjects {
  /** The first object that the path names, in each of its spellings. */
  readonly ids: readonly NamedObject[];
  /** The path names a collection, or something else that is not an object. */
  readonly isList: boolean;
  readonly collection: string;
}

function pathObjects(parts: readonly string[]): PathObjects {
  const words = parts.filter((part) => !/^v\d/.test(part));
  for (let at = 1; at < words.length; at++) {
    const [collection = "", part = ""] = [words[at - 1], words[at]];
    if (places.has(collection)) {
      at++;
      continue;
    }
    const id = part.replace(/:[A-Za-z_]+$/, "");
    const isId = collections.has(collection) ? !verbs.has(id) : !/^[a-z][a-z_-]*$/.test(id);
    if (!isId) continue;
    const kind = collections.get(collection) ?? "other";
    const ids = [id, `${collection}/${id}`, [...words.slice(0, at), id].join("/")];
    return { ids: [...new Set(ids)].map((one) => ({ param: "path", id: one, kind })), isList: false, collection };
  }
  const last = words.at(-1)?.replace(/:[A-Za-z_]+$/, "") ?? "";
  return { ids: [], isList: !places.has(last) && !places.has(words.at(-2) ?? ""), collection: last };
}

/** True for `DELETE /files/{id}`, false for a part of an object, such as `DELETE /containers/{id}/files/{file}`. */
function deletesWhole(parts: readonly string[]): boolean {
  const words = parts.filter((part) => !/^v\d/.test(part));
  return words.length === 2 || words.findIndex((word) => collections.has(word)) === words.length - 2;
}

/** Followed by a name that is no object. */
const places = new Set("models model deployments engines publishers projects locations endpoints".split(" "));

/** Followed by the id of an object. */
const collections: ReadonlyMap<string, UpstreamObjectKind> = new Map<string, UpstreamObjectKind>([
  ["files", "file"],
  ["conversations", "conversation"],
  ["containers", "container"],
  ["vector_stores", "vector_store"],
  ["fileSearchStores", "vector_store"],
  ["corpora", "vector_store"],
  ["skills", "skill"],
  ["cachedContents", "cache"],
  ["responses", "response"],
  ["interactions", "interaction"],
  ["prompts", "prompt"],
  ["uploads", "file"],
  ...["batches", "assistants", "threads", "tunedModels", "videos"].map((name) => [name, "other"] as const),
]);

/** Also follow a collection, and are no ids. */
const verbs: ReadonlySet<string> = new Set(["compact", "input_tokens", "runs", "edits", "extensions"]);

/** Ids in the body of a call to an account of one workspace, which is forwarded also if it cannot be read. */
function readObjects({ body, fields }: PassThroughCall): readonly NamedObject[] {
  if (fields !== null) return fields.filter(({ text }) => text !== null).flatMap(fieldObjects);
  const found: NamedObject[] = [];
  if (body instanceof Uint8Array) collect(parseObject(new TextDecoder().decode(body)), "", found);
  return found;
}

/** Ids in a body that cannot be read as a call: members named like ids, and texts in the form of vendors' ids. */
function unreadObjects({
  call: { headers },
  route: { target },
  body,
  fields,
}: PassThroughCall): readonly NamedObject[] {
  if (target.isUpload) {
    const id = URL.parse(target.url)?.searchParams.get(uploadIdName) ?? null;
    return id === null ? [] : [{ param: "upload_id", id, kind: "other" }];
  }
  if (fields !== null) return fields.flatMap(fieldObjects);
  if (body === null || (body instanceof Uint8Array ? body.length : body.size) === 0) return [];
  const type = headers.get("content-type") ?? "";
  if (uploadType.test(type)) return [];
  const packed = headers.get("content-encoding") ?? "identity";
  const text =
    body instanceof Uint8Array && isJsonType(type) && packed === "identity" ? new TextDecoder().decode(body) : "";
  const read = parseObject(text);
  if (read === null) throw unchecked();
  // The vendor may read the other one.
  if (membersWritten(text) !== membersIn(read)) throw unreadable("The body has an object with a duplicate member.");
  const found: NamedObject[] = [];
  collect(read, "", found);
  return found;
}

/** The number of members in valid JSON: its colons outside of strings. */
function membersWritten(json: string): number {
  let count = 0;
  let inString = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === quote) inString = !inString;
    else if (code === backslash) at++;
    else if (code === colon && !inString) count++;
  }
  return count;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;

/** The number of members without duplicates. Throws Failure invalid_request for JSON that is nested too deep. */
function membersIn(value: unknown, depth = 0): number {
  if (depth > nestingMax) throw unreadable(`The body is nested more than ${nestingMax} deep.`);
  if (Array.isArray(value)) return value.reduce<number>((sum, one) => sum + membersIn(one, depth + 1), 0);
  if (!isObject(value)) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + 1 + membersIn(one, depth + 1), 0);
}

const nestingMax = 500;

/** Vendors write lists and members of objects as names in brackets, or as JSON: `file_ids[]`, `input_reference[file_id]`. */
function fieldObjects({ name, text }: PassThroughField): readonly NamedObject[] {
  if (text === null) throw unchecked();
  const found: NamedObject[] = [];
  const read = /^\s*[[{]/.test(text) ? parseObject(`{"value":${text}}`) : null;
  const member = name.split(/[[\]]/).findLast((part) => /\D/.test(part)) ?? name;
  collect(read?.["value"] ?? text, member, found);
  return found;
}

function collect(value: unknown, param: string, found: NamedObject[]): void {
  if (typeof value === "string") {
    if (idMember.test(param) || vendorId.test(value)) found.push({ param, id: value, kind: "other" });
  } else if (Array.isArray(value)) for (const one of value) collect(one, param, found);
  else if (isObject(value)) {
    for (const [name, member] of Object.entries(value as JsonObject))
      if (!ownData.has(name)) collect(member, name, found);
  }
}

const uploadType =
  /^(?:multipart\/|application\/octet-stream|application\/zip|application\/pdf|image\/|audio\/|video\/)/i;
/** Callers' own ids. */
const ownData = new Set("metadata custom_id call_id tool_use_id tool_call_id user_id".split(" "));
const idMember =
  /(?:^|_)ids?$|[a-z]Ids?$|^(?:training|validation)_file$|^(?:fileUri|file_uri|fileName|file_name|cachedContent|cached_content)$/;
const vendorId =
  /^(?:(?:file|vs|cntr|container|conv|resp|skill|batch|upload|msgbatch|asst|thread|ftjob|pmpt|msg|interaction)[-_][\w-]{6,}|(?:files|cachedContents|fileSearchStores|corpora|batches|tunedModels)\/[\w-]+)$/;

/** Input tokens of a call that names it; null: unknown. */
function tokensIn(made: JsonObject): number | null {
  const counted = countOf(objectOf(made["usageMetadata"])["totalTokenCount"]);
  if (counted !== null) return counted;
  const bytes = Number(made["bytes"] ?? made["size_bytes"] ?? made["sizeBytes"] ?? Number.NaN);
  const type = made["mime_type"] ?? made["mimeType"] ?? made["filename"] ?? made["displayName"];
  return Number.isSafeInteger(bytes) && bytes >= 0 ? guessFile(bytes, String(type)) : null;
}

function expiryIn(made: JsonObject): number | null {
  const expiry = made["expires_at"] ?? made["expirationTime"] ?? made["expireTime"];
  const at = typeof expiry === "number" ? expiry * 1_000 : typeof expiry === "string" ? Date.parse(expiry) : Number.NaN;
  return Number.isSafeInteger(at) ? at : null;
}

function unreadable(message: string): Failure {
  return new Failure("invalid_request", message, { param: "body" });
}

function unchecked(): Failure {
  return new Failure(
    "forbidden",
    "This account is shared by several workspaces, so bodies must be JSON without content-encoding, or an upload.",
    { param: "body" },
  );
}

/** A resumable upload that has started. Source: Gemini API docs, "Files API"; @google/genai. */
interface UploadSession {
  /** The path of the upload, relative to the provider. */
  readonly path: string;
  /** null: its address names none. */
  readonly id: string | null;
}

/** The vendor answers with its own address; bytes sent there would bypass the gateway. null: no such address. */
function uploadSession(headers: HeaderReader): UploadSession | null {
  const url = URL.parse(headers.get(uploadUrlHeader) ?? "");
  const at = url?.pathname.indexOf("/upload/") ?? -1;
  if (url === null || at === -1) return null;
  url.searchParams.delete("key");
  return { path: `${url.pathname.slice(at)}${url.search}`, id: url.searchParams.get(uploadIdName) };
}

/** The state of an upload, and its path below the provider, which the API completes. */
export function addUploadHeaders(out: Record<string, string>, headers: HeaderReader): void {
  copyHeaders(out, headers, uploadHeaders);
  const session = uploadSession(headers);
  if (session !== null) out[uploadUrlHeader] = session.path;
}

export const uploadUrlHeader = "x-goog-upload-url";
const uploadHeaders = [
  "x-goog-upload-status",
  "x-goog-upload-chunk-granularity",
  "x-goog-upload-size-received",
] as const;
const uploadIdName = "upload_id";
/** Longer than the vendor keeps it. */
const sessionLifeMs = 7 * 86_400_000;
