import { requestFields } from "@sluice/contract/words";
import { bounds } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Edit } from "../json/bytes.ts";
import { CLOSE_OBJECT, LOWER_N, OPEN_OBJECT, type Span, skipSpace } from "../json/cursor.ts";
import { scanObject } from "../json/scan.ts";
import { addressedMedia } from "../request/addressed-media.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { MemberChecks } from "../request/member-checks.ts";
import {
  bodyNames,
  choosingIn,
  readBoolean,
  readCount,
  readLabel,
  readModel,
  readSmall,
  scanRequest,
  sizeOf,
} from "../request/members.ts";
import { listenFor, mediaHeard, nestedObjects, objectNames } from "../request/named-objects.ts";
import { namedModel, type ToolFacts, toolFacts, withNamedModel } from "../request/tool-facts.ts";
import { noServerTools } from "../usage/server-tools.ts";
import { searchTool } from "../usage/unseen-costs.ts";

const checks = new MemberChecks(requestFields.chat);

const objectsOfChat = objectNames(
  ["file_id", "cached_content", "cachedContent"],
  ["file_id", "cached_content", "cachedContent", '"audio"', '"voice"'],
  // A sound of an earlier answer, and a voice that was made for the account.
  { holders: ["audio", "voice"] },
);
const wanted = bodyNames([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "tools",
  "web_search_options",
  "moderation",
  "prompt_cache_key",
  "user",
]);
const wantedOption = new GovernedNames(["include_usage"]);

/** Reads what governs a chat-completions request. Source: OpenAI API reference, "Create chat completion". */
export function readChatRequest(body: Uint8Array): RequestFacts {
  const heard = listenFor(objectsOfChat);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const messages = members.get("messages");
  const cap = capOf(body, members);
  const choices = readCount(body, members.get("n")) ?? 1;
  const { stream, wantsUsage, streamOptionsSpan } = streamFacts(body, members);
  const tools = toolFacts(body, members.get("tools"));
  const { serverTools, hosted, asksSearch } = searchFacts(tools, said(body, members.get("web_search_options")));
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream,
    wantsUsage,
    streamOptionsSpan,
    outputTokensMax: cap === null ? null : cap * Math.max(1, choices),
    choices: choices > 1 ? choices : undefined,
    inputEstimate: Math.ceil(sizeOf(messages, members.get("tools")) / 4),
    affinity: readLabel(body, members.get("prompt_cache_key")) ?? readLabel(body, members.get("user")),
    conversation: { messages },
    continues: null,
    keeps: null,
    objects: nestedObjects(body, objectsOfChat, heard),
    choosing: choosingIn(body, members),
    serverTools,
    hosted,
    namedModels: withNamedModel(tools.namedModels, namedModel(body, members.get("moderation"), "moderation")),
    asksSearch,
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard),
  };
}

/** What governs the stream of an answer. */
export function streamFacts(
  body: Uint8Array,
  members: ReadonlyMap<string, Span>,
): Pick<RequestFacts, "stream" | "wantsUsage" | "streamOptionsSpan"> {
  const options = members.get("stream_options");
  return {
    stream: readBoolean(body, members.get("stream"), "stream"),
    wantsUsage: options !== undefined && body[options.start] === OPEN_OBJECT && asksUsage(body, options),
    streamOptionsSpan: options ?? null,
  };
}

/** Replaces the model's name and, in a stream whose caller did not ask for usage, asks for it. */
export function chatEdits(body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  const edits: Edit[] = [];
  if (facts.modelSpan !== null && upstreamModel !== facts.model) {
    edits.push({ start: facts.modelSpan.start, end: facts.modelSpan.end, text: JSON.stringify(upstreamModel) });
  }
  if (facts.stream && !facts.wantsUsage) edits.push(usageEdit(body, facts.streamOptionsSpan));
  return edits.sort((one, other) => one.start - other.start);
}

/** Where and how `include_usage` is asked for: in the caller's own options if it sent some. */
function usageEdit(body: Uint8Array, options: Span | null): Edit {
  if (options === null) {
    const open = body.indexOf(OPEN_OBJECT) + 1;
    return { start: open, end: open, text: '"stream_options":{"include_usage":true},' };
  }
  if (body[options.start] !== OPEN_OBJECT) return { ...options, text: '{"include_usage":true}' };
  const inner = body.subarray(options.start, options.end);
  const present = scanObject(inner, wantedOption).get("include_usage");
  if (present !== undefined) {
    return { start: options.start + present.start, end: options.start + present.end, text: "true" };
  }
  const empty = isEmptyObject(inner);
  const at = options.start + 1;
  return { start: at, end: at, text: empty ? '"include_usage":true' : '"include_usage":true,' };
}

function searchFacts(tools: ToolFacts, asked: boolean): ToolFacts & Pick<RequestFacts, "asksSearch"> {
  if (!asked) return tools;
  const { webSearches = 0, ...others } = tools.serverTools ?? noServerTools;
  // Vendors that tell how often they searched may tell more than one.
  const most = Math.max(bounds.serverToolCallsAssumed, webSearches);
  const tokens = (tools.hosted?.tokens ?? 0) + searchTool.tokens * searchTool.calls;
  return {
    ...tools,
    asksSearch: true,
    serverTools: { ...others, webSearches: most },
    hosted: { tokens, pictures: tools.hosted?.pictures ?? 0 },
  };
}

function said(body: Uint8Array, span: Span | undefined): boolean {
  return span !== undefined && body[span.start] !== LOWER_N;
}

/** Of the two names of the cap an upstream may read either: where both stand, the larger one may hold. */
function capOf(body: Uint8Array, members: ReadonlyMap<string, Span>): number | null {
  const newer = readCount(body, members.get("max_completion_tokens"));
  const older = readCount(body, members.get("max_tokens"));
  return newer === null || older === null ? (newer ?? older) : Math.max(newer, older);
}

/** The bytes are an object; whether anything stands in it. */
function isEmptyObject(object: Uint8Array): boolean {
  return object[skipSpace(object, 1)] === CLOSE_OBJECT;
}

function asksUsage(body: Uint8Array, options: Span): boolean {
  const inner = body.subarray(options.start, options.end);
  const span = scanRequest(inner, wantedOption).get("include_usage");
  return span !== undefined && readSmall(inner, span) === true;
}
