import { requestFields } from "@sluice/contract/words";
import { bounds, Failure, type HeaderReader } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { asBuffer, type Edit } from "../json/bytes.ts";
import { OPEN_OBJECT, type Span, valueEnd } from "../json/cursor.ts";
import { type NamesHeard, readSpan } from "../json/scan.ts";
import { wrong } from "../json/value.ts";
import { walkMembers } from "../json/walk.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { addressedMedia } from "../request/media.ts";
import {
  bodyNames,
  choosingIn,
  MemberChecks,
  readBoolean,
  readLabel,
  readModel,
  scanRequest,
  sizeOf,
} from "../request/members.ts";
import {
  listenFor,
  mediaHeard,
  namedObject,
  nestedObjects,
  objectAt,
  objectNames,
  toolsHeard,
} from "../request/named-objects.ts";
import { toolFacts } from "../request/tool-facts.ts";

const checks = new MemberChecks(requestFields.messages);
const countChecks = new MemberChecks(requestFields["count-tokens"]);

/** A conversation can add tools on its way (`tool_addition`). */
const toolDefinition: ReadonlySet<string> = new Set(["definition"]);
const objectsOfClaude = objectNames(["file_id", "skill_id"], ["file_id", "skill_id"], { toolsIn: [...toolDefinition] });
const wanted = bodyNames([
  ...["model", "messages", "max_tokens", "stream", "system", "tools", "container", "metadata", "thread"],
]);
const wantedThread = new GovernedNames(["type", "previous_message_id"]);
const wantedMetadata = new GovernedNames(["user_id"]);

/** Reads what governs a messages request. Source: Anthropic API reference, "Create a Message". */
export function readMessagesRequest(body: Uint8Array): RequestFacts {
  const heard = listenFor(objectsOfClaude);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const facts = promptFacts(body, members, heard);
  const maxTokens = members.get("max_tokens");
  const thread = members.get("thread");
  return {
    ...facts,
    ...(thread === undefined ? {} : threadFacts(body, thread)),
    stream: readBoolean(body, members.get("stream"), "stream"),
    // Zero is allowed: it warms the cache.
    outputTokensMax: maxTokens === undefined ? null : Number(readSpan(body, maxTokens)),
  };
}

/** The same prompt, but only its tokens are counted: nothing is generated and nothing streams. */
export function readCountRequest(body: Uint8Array): RequestFacts {
  const heard = listenFor(objectsOfClaude);
  const members = scanRequest(body, wanted, heard);
  countChecks.check(body, members);
  return promptFacts(body, members, heard);
}

/** Replaces the model's name; every other byte stays. */
export function messagesEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (facts.modelSpan === null || facts.model === upstreamModel) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }];
}

function promptFacts(body: Uint8Array, members: ReadonlyMap<string, Span>, heard: NamesHeard): RequestFacts {
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const messages = members.get("messages");
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: Math.ceil(sizeOf(messages, members.get("system"), members.get("tools")) / 4),
    streamOptionsSpan: null,
    affinity: readAffinity(body, members.get("metadata")),
    conversation: { system: members.get("system"), messages },
    continues: null,
    keeps: null,
    objects: [...objectAt(body, members.get("container"), "container"), ...nestedObjects(body, objectsOfClaude, heard)],
    choosing: choosingIn(body, members),
    ...toolFacts(body, members.get("tools"), ...(toolsHeard(heard) ? addedTools(body) : [])),
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard),
  };
}

function addedTools(body: Uint8Array): readonly Span[] {
  const bytes = asBuffer(body);
  const found: Span[] = [];
  walkMembers(bytes, toolDefinition, (_name, start) => {
    if (bytes[start] !== OPEN_OBJECT || start < (found.at(-1)?.end ?? 0)) return;
    if (found.length === bounds.toolListsMax)
      throw wrong("messages", `add tools more than ${bounds.toolListsMax} times`);
    found.push({ start, end: valueEnd(bytes, start) });
  });
  return found;
}

/**
 * A thread that the vendor keeps: the answer is kept for the next call, and `continue` names the answer before. Source: Anthropic
 * API reference, "Message threads".
 */
function threadFacts(body: Uint8Array, span: Span): Partial<Pick<RequestFacts, "continues" | "keeps">> {
  if (body[span.start] === 0x6e) return {};
  if (body[span.start] !== OPEN_OBJECT) throw wrong("thread", "must be an object");
  const inner = body.subarray(span.start, span.end);
  const previous = scanRequest(inner, wantedThread).get("previous_message_id");
  if (previous === undefined || inner[previous.start] === 0x6e) return { keeps: "thread_message" };
  const id = readLabel(inner, previous);
  if (id === null) throw wrong("thread.previous_message_id", "must be an id");
  return { keeps: "thread_message", continues: namedObject("previous_message_id", id) };
}

/** Claude Code writes its session into `metadata.user_id`, as a JSON text with the device and account. */
function readAffinity(body: Uint8Array, span: Span | undefined): string | null {
  if (span === undefined || body[span.start] !== OPEN_OBJECT) return null;
  const inner = body.subarray(span.start, span.end);
  return readLabel(inner, scanRequest(inner, wantedMetadata).get("user_id"));
}

/**
 * Whether a header is a vendor's version of its API: `<vendor>-version`, in lower case. Names that begin with `x-` or `sec-` are
 * programs' own: what they send with, and who they are.
 */
export function isVendorVersion(name: string): boolean {
  return name.endsWith("-version") && vendorName.test(name);
}

/** A day that there is, as YYYY-MM-DD. */
export function isVersionDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/**
 * Anthropic's own header, or any vendor's, has to say which version of the API is meant. A client's own version beside one of
 * those (`agent-version: 1.4.2`) is none of them. Throws Failure missing_version_header or invalid_request.
 */
export function requireVendorVersion(headers: HeaderReader): void {
  const own = headers.get(anthropic);
  if (own !== null && own !== "") {
    if (isVersionDate(own)) return;
    throw notADate(anthropic, own);
  }
  let other: Failure | null = null;
  for (const [name, value] of headers) {
    if (name === anthropic || !isVendorVersion(name)) continue;
    if (isVersionDate(value)) return;
    other ??= notADate(name, value);
  }
  if (other !== null) throw other;
  throw new Failure(
    "missing_version_header",
    "anthropic-version: header is required; another vendor's <vendor>-version with a date will do as well",
    { param: anthropic },
  );
}

const anthropic = "anthropic-version";

/** The bound keeps a name that is no vendor's out of errors and upstreams. */
const vendorName = /^(?!x-|sec-)[a-z0-9][a-z0-9_.-]{0,63}-version$/;

/** A header that is sent twice arrives as one, with its values joined. */
function notADate(name: string, value: string): Failure {
  const several = /^\d{4}-\d{2}-\d{2}\s*,/.test(value);
  const why = several ? "must be sent once, with one date" : "must be a date such as 2023-06-01";
  return new Failure("invalid_request", `${name}: ${why}`, { param: name });
}
