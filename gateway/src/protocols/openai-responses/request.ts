import { inputOrContinued, requestFields } from "@sluice/contract/words";
import { bounds, Failure } from "#core/index.ts";
import type { RequestFacts } from "../dialect.ts";
import { asBuffer } from "../json/bytes.ts";
import { LOWER_N, OPEN_ARRAY, type Span, valueEnd } from "../json/cursor.ts";
import { skimArray, skimObject, skimValue } from "../json/skim.ts";
import { invalid, missingParam, textOf } from "../json/value.ts";
import { mayEscapeNames, walkMembers } from "../json/walk.ts";
import { nextDataUrl } from "../request/media.ts";
import { readSmall } from "../request/members.ts";
import { mayHoldIds, type NamedObject, namedObject, objectNames, objectsAt } from "../request/named-objects.ts";
import { BodyReader, type OpenFacts, type RequestBody } from "../request/request-body.ts";
import { addNamedModel, toolFacts } from "../request/tool-facts.ts";

export const objectsOfOpenai = objectNames(
  [
    ...["file_id", "file_ids", "vector_store_ids", "container", "container_id", "skill_id", "tunnel_id"],
    "comparison_response_id",
  ],
  ["file_id", "vector_store_ids", '"container', "skill_id", "tunnel_id", "comparison_response_id"],
  { ids: ["id"] },
);
const bodies = new BodyReader(
  requestFields.responses,
  [
    ...["instructions", "tools", "store", "max_output_tokens", "prompt_cache_key", "safety_identifier", "user"],
    "moderation",
  ],
  objectsOfOpenai,
);
const promptMembers = ["instructions", "tools", "conversation", "prompt_cache_key"];
const compactBodies = new BodyReader(requestFields["responses-compact"], promptMembers, objectsOfOpenai);
const countBodies = new BodyReader(requestFields["input-tokens"], promptMembers, objectsOfOpenai);

/** Input items that add tools. */
const toolMarks = ["additional_tools", "tool_search_output"].map((mark) => Buffer.from(mark));
const toolLists: ReadonlySet<string> = new Set(["tools"]);
/** Source: OpenAI API reference, "Create a model response". */
export function readResponsesRequest(bytes: Uint8Array): RequestFacts {
  const body = bodies.read(bytes);
  const facts = promptFacts(body);
  if (inputOrContinued.every((name) => body.nonNull(name) === null)) throw missingParam("input");
  facts.stream = body.isOn("stream");
  facts.outputTokensMax = body.count("max_output_tokens");
  facts.affinity ??= body.label("safety_identifier") ?? body.label("user");
  facts.conversation = { system: body.get("instructions"), messages: body.get("input"), longStrings: body.longStrings };
  const store = body.get("store");
  const isBackground = body.isOn("background");
  if (isBackground) facts.background = true;
  if (isBackground || store === undefined || readSmall(bytes, store) !== false) facts.storesAs = "response";
  return facts;
}

/** Source: OpenAI API reference, "Compact a response". */
export function readCompactRequest(bytes: Uint8Array): RequestFacts {
  return promptFacts(compactBodies.read(bytes));
}

/** Source: OpenAI API reference, "Get input token counts". */
export function readInputTokensRequest(bytes: Uint8Array): RequestFacts {
  return promptFacts(countBodies.read(bytes));
}

function promptFacts(body: RequestBody): OpenFacts {
  const { bytes } = body;
  const input = body.get("input");
  const facts = body.facts(estimateInput(bytes, [input, body.get("instructions"), body.get("tools")]));
  facts.affinity = body.label("prompt_cache_key");
  if (facts.affinity !== null) facts.agentKey = facts.affinity;
  facts.continues = continuedResponse(bytes, body.nonNull("previous_response_id"));
  facts.objects = [
    ...objectsAt(bytes, body.get("conversation"), "conversation"),
    ...objectsAt(bytes, body.get("prompt"), "prompt"),
    ...body.objects(),
    ...(mayHoldIds(body) ? itemReferences(body, input) : noObjects),
  ];
  Object.assign(facts, toolFacts(bytes, body.get("tools"), ...inputTools(bytes, input)));
  addNamedModel(facts, body, "moderation");
  facts.mayHoldMedia = body.namesMedia;
  facts.mediaByUrl = body.mediaByUrl();
  return facts;
}

/** Lists of tools in input items. */
function inputTools(body: Uint8Array, input: Span | undefined): readonly Span[] {
  if (input === undefined || body[input.start] !== OPEN_ARRAY) return [];
  const bytes = asBuffer(body).subarray(input.start, input.end);
  if (!toolMarks.some((mark) => bytes.includes(mark)) && !mayEscapeNames(bytes)) return [];
  const found: Span[] = [];
  walkMembers(bytes, toolLists, (_name, start) => {
    const from = input.start + start;
    if (bytes[start] !== OPEN_ARRAY || from < (found.at(-1)?.end ?? 0)) return;
    if (found.length === bounds.toolListsMax)
      throw invalid("input", `adds tools more than ${bounds.toolListsMax} times`);
    found.push({ start: from, end: input.start + valueEnd(bytes, start) });
  });
  return found;
}

/** The id selects the account, so one that is too long is rejected. */
export function continuedResponse(body: Uint8Array, span: Span | null): NamedObject | null {
  if (span === null) return null;
  if (span.end - span.start > bounds.governingBytesMax) {
    throw new Failure("invalid_request", "previous_response_id is too long.");
  }
  const id = textOf(readSmall(body, span));
  return id === null || id === "" ? null : namedObject("previous_response_id", id);
}

/**
 * Items of earlier answers named in the input: references, whose type is optional, and pictures without data. Source: OpenAI API
 * reference, "Create a model response"; guide "Image generation".
 */
function itemReferences({ bytes, longStrings }: RequestBody, input: Span | undefined): readonly NamedObject[] {
  if (input === undefined || bytes[input.start] !== OPEN_ARRAY) return noObjects;
  const found: NamedObject[] = [];
  for (const { start, end } of skimArray(bytes, input, bounds.jsonValuesMax, longStrings) ?? []) {
    const members = skimObject(bytes, start, end, referenceMembers, refuseDuplicate, longStrings);
    const id = textOf(skimValue(bytes, members?.get("id")));
    if (id === null) continue;
    const type = textOf(skimValue(bytes, members?.get("type")));
    const result = members?.get("result");
    const isReference =
      type === "item_reference" ||
      (type === null && members?.has("role") === false) ||
      (type === "image_generation_call" && (result === undefined || bytes[result.start] === LOWER_N));
    if (!isReference) continue;
    found.push(namedObject("input", id));
    if (found.length > bounds.namedObjectsMax)
      throw invalid("input", `refers to more than ${bounds.namedObjectsMax} items`);
  }
  return found;
}

/** Readers could disagree on which counts. */
function refuseDuplicate(name: string): never {
  throw invalid("input", `has an item with a duplicate member "${name}"`);
}

const referenceMembers: ReadonlySet<string> = new Set(["id", "type", "role", "result"]);
const noObjects: readonly NamedObject[] = [];

/** One token for four bytes. Base64 is counted apart: a picture costs about the same at any size, a document has less text than bytes. */
export function estimateInput(body: Uint8Array, spans: readonly (Span | undefined)[]): number {
  let tokens = 0;
  for (const span of spans) if (span !== undefined) tokens += estimate(body, span);
  return Math.ceil(tokens);
}

const pictureTokens = 1_000;
const fileBytesPerToken = 64;
const bytesPerToken = 4;
const base64BytesMin = 2_048;

const pictureMark = Buffer.from("data:image/", "latin1");
const mediaTypeBytesMax = 72;

function estimate(body: Uint8Array, span: Span): number {
  const view = Buffer.from(body.buffer, body.byteOffset + span.start, span.end - span.start);
  let textBytes = view.length;
  let mediaTokens = 0;
  for (let found = nextDataUrl(view, 0); found !== null; found = nextDataUrl(view, found.end)) {
    const bytes = found.end - found.start;
    if (bytes < base64BytesMin) continue;
    textBytes -= bytes;
    const picture = view.subarray(Math.max(0, found.start - mediaTypeBytesMax), found.start).includes(pictureMark);
    mediaTokens += picture ? pictureTokens : bytes / fileBytesPerToken;
  }
  return textBytes / bytesPerToken + mediaTokens;
}
