import { bounds, Failure } from "#core/index.ts";
import type { Edit } from "../bytes.ts";
import { bodyNames, choosingIn } from "../choosing-members.ts";
import type { RequestFacts } from "../dialect.ts";
import type { Span } from "../json-scan.ts";
import { missing, objectOf, textOf, wrong } from "../json-value.ts";
import { type NamedObject, nestedObjects, objectAt, objectNames } from "../named-objects.ts";
import { readBoolean, readCount, readLabel, readModel, readSmall, scanRequest } from "../request-members.ts";
import { toolFacts } from "../tool-facts.ts";
import { estimateInput } from "./input-estimate.ts";

export const objectsOfOpenai = objectNames(
  ["file_id", "file_ids", "vector_store_ids", "container"],
  ["file_id", "vector_store_ids", '"container"'],
);
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
]);

/** Reads what governs a Responses request. Source: OpenAI API reference, "Create a model response". */
export function readResponsesRequest(body: Uint8Array): RequestFacts {
  const members = scanRequest(body, wanted);
  const modelSpan = members.get("model");
  const model = readModel(body, modelSpan);
  const previous = said(body, members.get("previous_response_id"));
  const conversation = said(body, members.get("conversation"));
  const continued = previous ?? conversation ?? said(body, members.get("prompt"));
  requireInput(body, members.get("input"), continued !== null);

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
    continues: previousId(body, previous) ?? idOf(body, conversation),
    objects: responsesObjects(body, members),
    keeps: background || store === undefined || readSmall(body, store) !== false,
    ...(background ? { background } : {}),
    choosing: choosingIn(members),
    ...toolFacts(body, members.get("tools")),
    images: 0,
  };
}

/** Conversations, stored prompts, files, stores and containers. */
function responsesObjects(body: Uint8Array, members: ReadonlyMap<string, Span>): readonly NamedObject[] {
  return [
    ...objectAt(body, members.get("conversation"), "conversation"),
    ...objectAt(body, members.get("prompt"), "prompt"),
    ...nestedObjects(body, objectsOfOpenai),
  ];
}

/** The id of the response that is gone on from, which is a text and nothing else. */
export function previousId(body: Uint8Array, span: Span | null): string | null {
  if (span !== null && body[span.start] !== QUOTE) throw wrong("previous_response_id", "must be a string");
  return idOf(body, span);
}

/** Only the model's name is replaced. */
export function responsesEdits(_body: Uint8Array, facts: RequestFacts, upstreamModel: string): readonly Edit[] {
  if (upstreamModel === facts.model || facts.modelSpan === null) return [];
  return [{ ...facts.modelSpan, text: JSON.stringify(upstreamModel) }];
}

/** `input` as the API takes it: a text or items; it may be left out of a call that continues another. */
export function requireInput(body: Uint8Array, input: Span | undefined, continued: boolean): void {
  const span = said(body, input);
  if (span === null) {
    if (!continued) throw missing("input");
    return;
  }
  const first = body[span.start];
  if (first !== QUOTE && first !== OPEN_ARRAY) throw wrong("input", "must be a string or an array");
}

/** A member that stands there and is not null. */
export function said(body: Uint8Array, span: Span | undefined): Span | null {
  return span === undefined || body[span.start] === LOWER_N ? null : span;
}

/** An id, given as a text or as an object that holds it. */
export function idOf(body: Uint8Array, span: Span | null): string | null {
  if (span === null) return null;
  // It decides which account is asked: an id that is not read must not go on.
  if (span.end - span.start > bounds.governingBytesMax) {
    throw new Failure("invalid_request", "The id of what is to be continued is longer than any id.");
  }
  const value = readSmall(body, span);
  const id = textOf(value) ?? textOf(objectOf(value)["id"]);
  return id === "" ? null : id;
}

const QUOTE = 0x22;
const OPEN_ARRAY = 0x5b;
const LOWER_N = 0x6e;
