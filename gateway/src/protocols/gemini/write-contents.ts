import type { MediaPart, ReasoningPart, ToolCallPart, ToolResultPart, TurnMessage, TurnPart } from "#core/index.ts";
import type { DialectTraits, TurnTarget, Warn } from "../codec.ts";
import { type JsonObject, unsupported } from "../json/value.ts";
import { readDataUri } from "../turn/data-uri.ts";
import { opens } from "../turn/seal-text.ts";
import { argumentsObject } from "../turn/tool-calls.ts";
import { foreignSignature, needsSignatures, writeResponse, writeToolName } from "./encodings.ts";

export interface GeminiContent {
  readonly role: "user" | "model";
  readonly parts: readonly JsonObject[];
}

/** Parts of one side until the other speaks. Results wait until it is known which calls they answer. */
interface Draft {
  readonly role: GeminiContent["role"];
  readonly parts: JsonObject[];
  readonly calls: ToolCallPart[];
  readonly results: ToolResultPart[];
}

/**
 * A conversation as contents: user and model in turns, the user first, and after a turn with calls one with as many
 * results in the same order, or the vendor refuses the whole.
 */
export function writeContents(messages: readonly TurnMessage[], target: TurnTarget, warn: Warn): GeminiContent[] {
  const drafts: Draft[] = [];
  for (const message of messages) {
    if (message.role === "system") warn("an instruction in the middle of the conversation was sent as user text");
    for (const part of message.parts) addPart(drafts, message, part, { target, warn });
  }
  const signs = needsSignatures(target.upstreamModel);
  const contents = drafts.map((draft, index): GeminiContent => {
    if (draft.role === "model") return { role: "model", parts: signs ? signed(draft) : draft.parts };
    const calls = drafts[index - 1]?.calls ?? [];
    const answers = writeResults(calls, draft.results, target.traits, warn);
    return { role: "user", parts: [...answers, ...draft.parts] };
  });
  if (contents[0]?.role === "model") {
    warn("the conversation began with the model's words; a short user turn was put before them");
    contents.unshift({ role: "user", parts: [{ text: "Continue." }] });
  }
  return contents;
}

interface WriteOptions {
  readonly target: TurnTarget;
  readonly warn: Warn;
}

function addPart(drafts: Draft[], message: TurnMessage, part: TurnPart, options: WriteOptions): void {
  const role = message.role === "assistant" ? "model" : "user";
  switch (part.kind) {
    case "text":
    case "refusal":
      if (part.text !== "") draftOf(drafts, role).parts.push({ text: part.text });
      return;
    case "tool-result":
      draftOf(drafts, "user").results.push(part);
      return;
    case "tool-call": {
      const draft = draftOf(drafts, "model");
      draft.calls.push(part);
      draft.parts.push(writeCall(part, options));
      return;
    }
    case "reasoning": {
      const written = writeReasoning(part, options.target);
      if (written !== null) draftOf(drafts, "model").parts.push(written);
      return;
    }
    default:
      draftOf(drafts, role).parts.push(writeMedia(part, options.target.traits, options.warn));
  }
}

function draftOf(drafts: Draft[], role: Draft["role"]): Draft {
  const last = drafts.at(-1);
  if (last?.role === role) return last;
  const draft: Draft = { role, parts: [], calls: [], results: [] };
  drafts.push(draft);
  return draft;
}

function writeCall(call: ToolCallPart, { target, warn }: WriteOptions): JsonObject {
  const functionCall = {
    ...idOf(call, target.traits),
    name: writeToolName(call.name),
    args: argumentsObject(call.argumentsText, warn),
  };
  const { seal } = call;
  if (seal === null || !opens(seal, "gemini", target.account)) return { functionCall };
  return { functionCall, thoughtSignature: seal.data };
}

/** Thoughts go back to whoever thought them, signed; others would take them for the user's or their own words. */
function writeReasoning(part: ReasoningPart, target: TurnTarget): JsonObject | null {
  if (part.seal === null || !opens(part.seal, "gemini", target.account)) return null;
  const thoughtSignature = part.seal.data;
  return part.text === "" ? { text: "", thoughtSignature } : { text: part.text, thought: true, thoughtSignature };
}

function signed(draft: Draft): readonly JsonObject[] {
  const at = draft.parts.findIndex((part) => part["functionCall"] !== undefined);
  const first = draft.parts[at];
  if (first === undefined || first["thoughtSignature"] !== undefined) return draft.parts;
  return draft.parts.with(at, { ...first, thoughtSignature: foreignSignature });
}

/**
 * The results of `calls` in the order of the calls, one each, and behind them the pictures they hold: a functionResponse
 * itself carries an object only. A call without a result gets an error; a result without a call becomes text.
 */
function writeResults(
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  traits: DialectTraits,
  warn: Warn,
): JsonObject[] {
  const waiting = new Map<string, ToolResultPart[]>();
  for (const result of results) waiting.set(result.callId, [...(waiting.get(result.callId) ?? []), result]);
  const responses: JsonObject[] = [];
  const behind: JsonObject[] = [];
  for (const call of calls) {
    const result = waiting.get(call.id)?.shift();
    if (result === undefined) warn("a tool call without a result was answered with an error");
    responses.push({
      functionResponse: {
        ...idOf(call, traits),
        name: writeToolName(call.name),
        response: result === undefined ? noResult : writeResponse(textOf(result), result.isError),
      },
    });
    if (result !== undefined) behind.push(...mediaOf(result, call.name, traits, warn));
  }
  for (const result of [...waiting.values()].flat()) {
    warn("the result of a tool call that is not in the conversation was sent as user text");
    const name = result.name ?? "a tool";
    behind.push({ text: `Result of ${name}: ${textOf(result)}` }, ...mediaOf(result, name, traits, warn));
  }
  return [...responses, ...behind];
}

/** The id of a call, which its result has too. */
function idOf({ id }: ToolCallPart, { noCallIds }: DialectTraits): JsonObject {
  return id === "" || noCallIds === true ? {} : { id };
}

const noResult: JsonObject = { error: "The call was not carried out." };

function textOf(result: ToolResultPart): string {
  return result.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");
}

function mediaOf(result: ToolResultPart, name: string, traits: DialectTraits, warn: Warn): JsonObject[] {
  const media = result.parts.flatMap((part) => (part.kind === "text" ? [] : [writeMedia(part, traits, warn)]));
  return media.length === 0 ? [] : [{ text: `Attached to the result of ${name}:` }, ...media];
}

/** A picture, document, sound or film as a Part. */
function writeMedia(part: MediaPart, traits: DialectTraits, warn: Warn): JsonObject {
  const { source } = part;
  if (part.detail !== null && part.detail !== "auto") {
    warn("image detail is not understood by the upstream and was left out");
  }
  if (part.name !== null && part.name !== "" && source.kind !== "text") {
    warn("the name of a file is not understood by the upstream and was left out");
  }
  switch (source.kind) {
    case "base64":
      return inlineData(source.mediaType, source.data);
    case "text":
      return { text: part.name === null ? source.text : `${part.name}\n\n${source.text}` };
    case "url":
      return writeUrl(part, source.url, source.mediaType, traits);
    case "file":
      if (source.dialect !== "gemini") {
        throw unsupported("messages", `The ${part.kind} is a file of another vendor, which the upstream cannot read.`);
      }
      return { fileData: { fileUri: source.id, mimeType: guessType(source.id, part.kind) } };
  }
}

function writeUrl(part: MediaPart, url: string, mediaType: string | null, traits: DialectTraits): JsonObject {
  const inline = readDataUri(url);
  if (inline !== null) return inlineData(inline.mediaType, inline.data);
  if (traits.fetchesUrls !== true && !ownUrl.test(url)) {
    throw unsupported("messages", `The upstream does not fetch URLs: the ${part.kind} must be sent inline, as base64.`);
  }
  return { fileData: { fileUri: url, mimeType: mediaType ?? guessType(url, part.kind) } };
}

function inlineData(mediaType: string, data: string): JsonObject {
  return { inlineData: { mimeType: takenTypes.get(mediaType) ?? mediaType, data } };
}

/** Types that are refused ("Unsupported MIME type"), by those under which the vendor reads the same bytes. */
const takenTypes: ReadonlyMap<string, string> = new Map([
  ["image/jpg", "image/jpeg"],
  ["audio/wave", "audio/wav"],
  ["audio/x-wav", "audio/wav"],
  ...["json", "x-ndjson", "xml", "yaml", "x-yaml", "javascript", "x-sh"].map((type): [string, string] => [
    `application/${type}`,
    "text/plain",
  ]),
]);

/** What needs not be fetched for the vendor. */
export function isGeminiUrl(url: string): boolean {
  return ownUrl.test(url);
}

/** What the vendor reads by its address anywhere: its own stores, and films on YouTube. */
const ownUrl = /^(?:gs:\/\/|https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.)?youtube\.com|youtu\.be)\/)/;

const typesByEnding: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  gif: "image/gif",
  heic: "image/heic",
  heif: "image/heif",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  html: "text/html",
  csv: "text/csv",
  json: "application/json",
  mp3: "audio/mpeg",
  wav: "audio/wav",
  ogg: "audio/ogg",
  flac: "audio/flac",
  aac: "audio/aac",
  m4a: "audio/mp4",
  mp4: "video/mp4",
  mov: "video/quicktime",
  webm: "video/webm",
  mpg: "video/mpeg",
  mpeg: "video/mpeg",
};

/** The commonest of each kind, for addresses that do not say. */
const typesByKind: Readonly<Record<MediaPart["kind"], string>> = {
  image: "image/jpeg",
  document: "application/pdf",
  audio: "audio/mpeg",
  video: "video/mp4",
};

function guessType(url: string, kind: MediaPart["kind"]): string {
  const path = url.split(/[?#]/, 1)[0] ?? "";
  const ending = /\.([a-z0-9]{2,4})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  return typesByEnding[ending] ?? typesByKind[kind];
}
