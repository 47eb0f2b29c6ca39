import { inputOrContinued, requestFields } from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { asBuffer, type Edit } from "../json/bytes.ts";
import { LOWER_N, OPEN_ARRAY, type Span, valueEnd } from "../json/cursor.ts";
import type { NamesHeard } from "../json/scan.ts";
import { missing, textOf, wrong } from "../json/value.ts";
import { mayEscape, walkMembers } from "../json/walk.ts";
import { addressedMedia } from "../request/addressed-media.ts";
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
} from "../request/members.ts";
import {
  idsHeard,
  listenFor,
  mediaHeard,
  type NamedObject,
  namedObject,
  nestedObjects,
  objectAt,
  objectNames,
} from "../request/named-objects.ts";
import { namedModel, type ToolFacts, toolFacts, withNamedModel } from "../request/tool-facts.ts";
import { estimateInput } from "./input-estimate.ts";
import { itemReferences } from "./item-ids.ts";

const checks = new MemberChecks(requestFields.responses);

export const objectsOfOpenai = objectNames(
  [
    ...["file_id", "file_ids", "vector_store_ids", "container", "container_id", "skill_id", "tunnel_id"],
    "comparison_response_id",
  ],
  ["file_id", "vector_store_ids", '"container', "skill_id", "tunnel_id", "comparison_response_id"],
  { ids: ["id"] },
);
/** Items of the input that bring tools with them. */
const toolMarks = ["additional_tools", "tool_search_output"].map((mark) => Buffer.from(mark));
const toolLists: ReadonlySet<string> = new Set(["tools"]);
const wanted = bodyNames([
  "model",
  "input",
  "instructions",
  "tools",
  "prompt",
  "previous_response_id",
  "conversation",
  "stream",
  "store",
  "background",
  "max_output_tokens",
  "prompt_cache_key",
  "safety_identifier",
  "user",
  "moderation",
]);

/** Reads what governs a Responses request. Source: OpenAI API reference, "Create a model response". */
export function readResponsesRequest(body: Uint8Array): RequestFacts {
  const heard = listenFor(objectsOfOpenai);
  const members = scanRequest(body, wanted, heard);
  checks.check(body, members);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const previous = said(body, members.get("previous_response_id"));
  if (inputOrContinued.every((name) => said(body, members.get(name)) === null)) throw missing("input");

  const background = readBoolean(body, members.get("background"), "background");
  const store = members.get("store");
  return {
    model,
    modelSpan: modelSpan ?? null,
    stream: readBoolean(body, members.get("stream"), "stream"),
    wantsUsage: true,
    outputTokensMax: readCount(body, members.get("max_output_tokens")),
    inputEstimate: estimateInput(body, [members.get("input"), members.get("instructions"), members.get("tools")]),
    streamOptionsSpan: null,
    affinity:
      readLabel(body, members.get("prompt_cache_key")) ??
      readLabel(body, members.get("safety_identifier")) ??
      readLabel(body, members.get("user")),
    conversation: { system: members.get("instructions"), messages: members.get("input") },
    continues: continuedResponse(body, previous),
    objects: responsesObjects(body, members, heard),
    keeps: background || store === undefined || readSmall(body, store) !== false ? "response" : null,
    ...(background ? { background } : {}),
    choosing: choosingIn(body, members),
    ...modelsAndTools(body, members),
    images: 0,
    namesMedia: mediaHeard(heard),
    addressed: addressedMedia(body, heard),
  };
}

/** Conversations, stored prompts, files, stores and containers. */
function responsesObjects(
  body: Uint8Array,
  members: ReadonlyMap<string, Span>,
  heard: NamesHeard,
): readonly NamedObject[] {
  return [
    ...objectAt(body, members.get("conversation"), "conversation"),
    ...objectAt(body, members.get("prompt"), "prompt"),
    ...namedWithin(body, members.get("input"), heard),
  ];
}

/** Files, stores, containers and what else nested members name, and items of the input that are references. */
export function namedWithin(body: Uint8Array, input: Span | undefined, heard: NamesHeard): readonly NamedObject[] {
  const nested = nestedObjects(body, objectsOfOpenai, heard);
  return idsHeard(heard) ? [...nested, ...itemReferences(body, input)] : nested;
}

/** Of the tools, wherever they stand, and of the check of what goes in and comes out. */
export function modelsAndTools(body: Uint8Array, members: ReadonlyMap<string, Span>): ToolFacts {
  const tools = toolFacts(body, members.get("tools"), ...inputTools(body, members.get("input")));
  const checks = namedModel(body, members.get("moderation"), "moderation");
  return { ...tools, namedModels: withNamedModel(tools.namedModels, checks) };
}

/** The lists of tools among the items of the input. */
function inputTools(body: Uint8Array, input: Span | undefined): readonly Span[] {
  if (input === undefined || body[input.start] !== OPEN_ARRAY) return [];
  const bytes = asBuffer(body).subarray(input.start, input.end);
  if (!toolMarks.some((mark) => bytes.includes(mark)) && !mayEscape(bytes)) return [];
  const found: Span[] = [];
  walkMembers(bytes, toolLists, (_name, start) => {
    const from = input.start + start;
    if (bytes[start] !== OPEN_ARRAY || from < (found.at(-1)?.end ?? 0)) return;
    if (found.length === bounds.toolListsMax) throw wrong("input", `adds tools more than ${bounds.toolListsMax} times`);
    found.push({ start: from, end: input.start + valueEnd(bytes, start) });
  });
  return found;
}

/** Only the model's name is replaced. */
export function responsesEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (upstreamModel === facts.model || facts.modelSpan === null) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }];
}

/** A member that stands there and is not null. */
export function said(body: Uint8Array, span: Span | undefined): Span | null {
  return span === undefined || body[span.start] === LOWER_N ? null : span;
}

/** It decides which account is asked: an id that is not read must not go on. */
export function continuedResponse(body: Uint8Array, span: Span | null): NamedObject | null {
  if (span === null) return null;
  if (span.end - span.start > bounds.governingBytesMax) {
    throw new Failure("invalid_request", "The id of what is to be continued is longer than any id.");
  }
  const id = textOf(readSmall(body, span));
  return id === null || id === "" ? null : namedObject("previous_response_id", id);
}
