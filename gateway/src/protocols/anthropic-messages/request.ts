import type { Edit } from "../bytes.ts";
import { bodyNames, choosingIn } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import { GovernedNames } from "../governed-names.ts";
import { readSpan, type Span } from "../json-scan.ts";
import { missing, wrong } from "../json-value.ts";
import { nestedObjects, objectAt, objectNames } from "../named-objects.ts";
import { readBoolean, readLabel, readModel, requireArray, scanRequest, sizeOf } from "../request-members.ts";
import { toolFacts } from "../tool-facts.ts";

const objectsOfClaude = objectNames(["file_id"], ["file_id"]);
const wanted = bodyNames(["model", "messages", "max_tokens", "stream", "system", "tools", "container", "metadata"]);
const wantedMetadata = new GovernedNames(["user_id"]);

/** Reads what governs a messages request. Source: Anthropic API reference, "Create a Message". */
export function readMessagesRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  const facts = promptFacts(body, members);
  return {
    ...facts,
    stream: readBoolean(body, members.get("stream"), "stream"),
    outputTokensMax: readCap(body, members.get("max_tokens")),
  };
}

/** The same prompt, but only its tokens are counted: nothing is generated and nothing streams. */
export function readCountRequest(body: Uint8Array): RequestFacts {
  return promptFacts(body, scanRequest(body, wanted));
}

/** Replaces the model's name; every other byte stays. */
export function messagesEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (facts.modelSpan === null || facts.model === upstreamModel) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }];
}

function promptFacts(body: Uint8Array, members: ReadonlyMap<string, Span>): RequestFacts {
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const messages = requireArray(body, members.get("messages"), "messages");
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: false,
    wantsUsage: true,
    outputTokensMax: null,
    inputEstimate: Math.ceil(sizeOf(messages, members.get("system"), members.get("tools")) / 4),
    streamOptionsSpan: null,
    affinity: readAffinity(body, members.get("metadata")),
    continues: null,
    keeps: false,
    objects: [...objectAt(body, members.get("container"), "container"), ...nestedObjects(body, objectsOfClaude)],
    choosing: choosingIn(members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
  };
}

/** `max_tokens` is required and governs the reservation. Zero is allowed: it warms the cache. */
function readCap(body: Uint8Array, span: Span | undefined): number {
  const value = span === undefined || span.end - span.start > 20 ? null : readSpan(body, span);
  if (span === undefined || (value === null && body[span.start] === 0x6e)) throw missing("max_tokens");
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw wrong("max_tokens", "must be a whole number of at least 0");
  }
  return value;
}

/** Claude Code writes its session into `metadata.user_id`, as a JSON text with the device and account. */
function readAffinity(body: Uint8Array, span: Span | undefined): string | null {
  if (span === undefined || body[span.start] !== 0x7b) return null;
  const inner = body.subarray(span.start, span.end);
  return readLabel(inner, scanRequest(inner, wantedMetadata).get("user_id"));
}
