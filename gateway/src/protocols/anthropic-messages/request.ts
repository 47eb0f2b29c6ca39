import { requestFields } from "@sluice/contract/words";
import { bounds, Failure, type HeaderReader } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { asBuffer } from "../json/bytes.ts";
import { LOWER_N, OPEN_OBJECT, type Span, valueEnd } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { invalid } from "../json/value.ts";
import { walkMembers } from "../json/walk.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { readLabel, scanRequest } from "../request/members.ts";
import { mayHoldTools, namedObject, objectNames, objectsAt } from "../request/named-objects.ts";
import { BodyReader, type OpenFacts, type RequestBody } from "../request/request-body.ts";
import { toolFacts } from "../request/tool-facts.ts";

/** A conversation can add tools (`tool_addition`). */
const toolDefinition: ReadonlySet<string> = new Set(["definition"]);
const objectsOfClaude = objectNames(["file_id", "skill_id"], ["file_id", "skill_id"], { toolsIn: [...toolDefinition] });
const prompt = ["system", "tools", "container", "metadata", "thread", "max_tokens", "stream"];
const bodies = new BodyReader(requestFields.messages, prompt, objectsOfClaude);
const countBodies = new BodyReader(requestFields["count-tokens"], prompt, objectsOfClaude);
const wantedThread = new GovernedNames(["type", "previous_message_id"]);
const wantedMetadata = new GovernedNames(["user_id"]);

/** Source: Anthropic API reference, "Create a Message". */
export function readMessagesRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const facts = promptFacts(body);
  const maxTokens = body.get("max_tokens");
  addThread(body, facts);
  facts.stream = body.isOn("stream");
  // Zero warms the cache.
  if (maxTokens !== undefined) facts.outputTokensMax = Number(readSpan(bytes, maxTokens));
  return facts;
}

export function readCountRequest(bytes: Uint8Array): RequestFacts {
  return promptFacts(countBodies.read(bytes));
}

function promptFacts(body: RequestBody): OpenFacts {
  const { bytes } = body;
  const messages = body.get("messages");
  const facts = body.facts(body.estimate("messages", "system", "tools"));
  const userId = readAffinity(bytes, body.get("metadata"));
  facts.affinity = userId;
  if (userId !== null) facts.agentKey = userId;
  facts.conversation = { system: body.get("system"), messages, longStrings: body.longStrings };
  facts.objects = [...objectsAt(bytes, body.get("container"), "container"), ...body.objects()];
  facts.mayHoldMedia = body.namesMedia;
  facts.mediaByUrl = body.mediaByUrl();
  return Object.assign(facts, toolFacts(bytes, body.get("tools"), ...(mayHoldTools(body) ? addedTools(bytes) : [])));
}

function addedTools(body: Uint8Array): readonly Span[] {
  const bytes = asBuffer(body);
  const found: Span[] = [];
  walkMembers(bytes, toolDefinition, (_name, start) => {
    if (bytes[start] !== OPEN_OBJECT || start < (found.at(-1)?.end ?? 0)) return;
    if (found.length === bounds.toolListsMax)
      throw invalid("messages", `add tools more than ${bounds.toolListsMax} times`);
    found.push({ start, end: valueEnd(bytes, start) });
  });
  return found;
}

/** Reads a thread kept by the vendor, in which `continue` names the previous answer. Source: Anthropic API reference, "Message threads". */
function addThread(body: RequestBody, facts: OpenFacts): void {
  const span = body.nonNull("thread");
  if (span === null) return;
  if (body.bytes[span.start] !== OPEN_OBJECT) throw invalid("thread", "must be an object");
  const inner = body.bytes.subarray(span.start, span.end);
  const previous = scanRequest(inner, wantedThread).get("previous_message_id");
  facts.storesAs = "thread_message";
  if (previous === undefined || inner[previous.start] === LOWER_N) return;
  const id = readLabel(inner, previous);
  if (id === null) throw invalid("thread.previous_message_id", "must be an id");
  facts.continues = namedObject("previous_message_id", id);
}

/** Claude Code puts its session into `metadata.user_id`. */
function readAffinity(body: Uint8Array, span: Span | undefined): string | null {
  if (span === undefined || body[span.start] !== OPEN_OBJECT) return null;
  const inner = body.subarray(span.start, span.end);
  return readLabel(inner, scanRequest(inner, wantedMetadata).get("user_id"));
}

/** Whether a header is `<vendor>-version` in lower case. `x-` and `sec-` headers belong to programs. */
export function isVendorVersion(name: string): boolean {
  return name.endsWith("-version") && vendorName.test(name);
}

/** An existing day as YYYY-MM-DD. */
export function isVersionDate(value: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(value)) return false;
  const time = Date.parse(`${value}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(value);
}

/**
 * Requires a date in Anthropic's or any vendor's version header. Other versions (`agent-version: 1.4.2`) do not count. Throws Failure
 * missing_version_header or invalid_request.
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

/** Bounded, since the name appears in errors and upstream requests. */
const vendorName = /^(?!x-|sec-)[a-z0-9][a-z0-9_.-]{0,63}-version$/;

/** Values of a repeated header arrive joined. */
function notADate(name: string, value: string): Failure {
  const several = /^\d{4}-\d{2}-\d{2}\s*,/.test(value);
  const why = several ? "must be sent once, with one date" : "must be a date such as 2023-06-01";
  return new Failure("invalid_request", `${name}: ${why}`, { param: name });
}
