import { requestFields } from "@sluice/contract/words";
import { bounds } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Edit } from "../json/bytes.ts";
import { CLOSE_OBJECT, OPEN_OBJECT, type Span, skipSpace } from "../json/cursor.ts";
import { scanObject } from "../json/scan.ts";
import { GovernedNames } from "../request/governed-names.ts";
import { readSmall, scanRequest } from "../request/members.ts";
import { objectNames } from "../request/named-objects.ts";
import { BodyReader, modelEdit, type OpenFacts, type RequestBody } from "../request/request-body.ts";
import { addNamedModel, toolFacts } from "../request/tool-facts.ts";
import { noServerTools } from "../usage/reading.ts";
import { searchTool } from "../usage/unseen-costs.ts";

const bodies = new BodyReader(
  requestFields.chat,
  [
    ...["stream_options", "max_tokens", "max_completion_tokens", "tools", "web_search_options", "moderation"],
    ...["prompt_cache_key", "user"],
  ],
  objectNames(
    ["file_id", "cached_content", "cachedContent"],
    ["file_id", "cached_content", "cachedContent", '"audio"', '"voice"'],
    // Audio of an earlier answer, and custom voices.
    { holders: ["audio", "voice"] },
  ),
);
const wantedOption = new GovernedNames(["include_usage"]);

/** Source: OpenAI API reference, "Create chat completion". */
export function readChatRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const facts = body.facts(body.estimate("messages", "tools"));
  readStreamFacts(body, facts);
  const cap = capOf(body);
  const choices = body.count("n") ?? 1;
  if (cap !== null) facts.outputTokensMax = cap * choices;
  if (choices > 1) facts.choices = choices;
  const cacheKey = body.label("prompt_cache_key");
  if (cacheKey !== null) {
    facts.affinity = cacheKey;
    facts.agentKey = cacheKey;
  }
  facts.conversation = { messages: body.get("messages"), longStrings: body.longStrings };
  const tools = body.get("tools");
  if (tools !== undefined) Object.assign(facts, toolFacts(bytes, tools));
  addNamedModel(facts, body, "moderation");
  if (body.nonNull("web_search_options") !== null) addSearch(facts);
  facts.objects = body.objects();
  facts.mayHoldMedia = body.namesMedia;
  facts.mediaByUrl = body.mediaByUrl();
  return facts;
}

export function readStreamFacts(body: RequestBody, facts: OpenFacts): void {
  const options = body.get("stream_options");
  facts.stream = body.isOn("stream");
  facts.wantsUsage =
    options !== undefined && body.bytes[options.start] === OPEN_OBJECT && asksUsage(body.bytes, options);
  facts.streamOptionsSpan = options ?? null;
}

/** Replaces the model, and requests usage if the caller of a stream did not. */
export function chatEdits(body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  const edits = modelEdit(body, facts, upstreamModel);
  if (!facts.stream || facts.wantsUsage) return edits;
  return [...edits, usageEdit(body, facts.streamOptionsSpan)].sort((one, other) => one.start - other.start);
}

/** Extends the caller's own options if there are any. */
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
  const empty = inner[skipSpace(inner, 1)] === CLOSE_OBJECT;
  const at = options.start + 1;
  return { start: at, end: at, text: empty ? '"include_usage":true' : '"include_usage":true,' };
}

/** Vendors may report more searches than this. */
function addSearch(facts: OpenFacts): void {
  const { webSearches = 0, ...others } = facts.serverTools ?? noServerTools;
  facts.requestsSearch = true;
  facts.serverTools = { ...others, webSearches: Math.max(bounds.serverToolCallsAssumed, webSearches) };
  const tokens = (facts.hostedInput?.tokens ?? 0) + searchTool.tokens * searchTool.calls;
  facts.hostedInput = { tokens, pictures: facts.hostedInput?.pictures ?? 0 };
}

/** Upstreams may read either name, so the larger value counts. */
function capOf(body: RequestBody): number | null {
  const newer = body.count("max_completion_tokens");
  const older = body.count("max_tokens");
  return newer === null || older === null ? (newer ?? older) : Math.max(newer, older);
}

function asksUsage(body: Uint8Array, options: Span): boolean {
  const inner = body.subarray(options.start, options.end);
  const span = scanRequest(inner, wantedOption).get("include_usage");
  return span !== undefined && readSmall(inner, span) === true;
}
