import type { MediaPart, Seal, ToolCallPart, TurnMessage, TurnPart, TurnRole } from "#core/index.ts";
import type { Warn } from "../codec.ts";
import { arrayOf, invalid, isObject, type JsonObject, objectOf, textOf } from "../json/value.ts";
import { textPart } from "../turn/parts.ts";
import { notSupported, quotableName } from "../turn/warnings.ts";
import { codeText, readSignature, readToolResponse } from "./encodings.ts";
import { googleFileUrl } from "./media-urls.ts";
import { camelKeys } from "./protobuf-json.ts";

/**
 * Joins neighboring contents of one role, and texts and thoughts within them: clients send each chunk of a stream back as a content, with
 * the signature on the last.
 */
export function readContents(contents: readonly unknown[], warn: Warn): TurnMessage[] {
  const ids = new CallIds();
  const messages: { readonly role: TurnRole; readonly parts: TurnPart[] }[] = [];
  for (const entry of contents) {
    if (!isObject(entry)) throw invalid("contents", "must contain objects with role and parts");
    const content = camelKeys(entry);
    const role = roleOf(content["role"]);
    const last = messages.at(-1);
    const parts = last?.role === role ? last.parts : [];
    if (parts !== last?.parts) messages.push({ role, parts });
    for (const value of arrayOf(content["parts"])) {
      const part = camelKeys(value);
      for (const name of ["mediaResolution", "videoMetadata"]) {
        if (part[name] !== undefined) warn(notSupported(`${name}`));
      }
      if (role === "assistant") readModelPart(part, parts, ids, warn);
      else readUserPart(part, parts, ids, warn);
    }
  }
  return messages.filter((message) => message.parts.length > 0);
}

/** Function results used to have their own role. No role means the user. */
function roleOf(role: unknown): TurnRole {
  if (role === undefined || role === null || role === "" || role === "user" || role === "function") return "user";
  if (role === "model") return "assistant";
  if (role === "system") return "system";
  throw invalid("contents", "must have the role user or model");
}

function readUserPart(part: JsonObject, parts: TurnPart[], ids: CallIds, warn: Warn): void {
  const text = textOf(part["text"]);
  if (text !== null) parts.push(...textParts(text));
  else if (isObject(part["functionResponse"])) parts.push(readResult(camelKeys(part["functionResponse"]), ids, warn));
  else readOther(part, parts, warn);
}

function textParts(text: string): TurnPart[] {
  return text === "" ? [] : [textPart(text)];
}

function readModelPart(part: JsonObject, parts: TurnPart[], ids: CallIds, warn: Warn): void {
  const signature = textOf(part["thoughtSignature"]) || null;
  const read = signature === null ? null : readSignature(signature);
  const seal = read?.seal ?? null;
  if (isObject(part["functionCall"])) {
    parts.push(readCall(camelKeys(part["functionCall"]), seal, ids));
    return;
  }
  const text = textOf(part["text"]);
  if (part["thought"] === true) {
    addThought(parts, text ?? "", seal, read?.redacted ?? false);
    return;
  }
  if (text !== null) addText(parts, text);
  else readOther(part, parts, warn);
  if (seal !== null) addSignature(parts, seal, text === null || text === "");
}

function readCall(call: JsonObject, seal: Seal | null, ids: CallIds): ToolCallPart {
  const name = textOf(call["name"]);
  if (name === null || name === "") throw invalid("contents", "contain a functionCall without a name");
  const id = ids.call(textOf(call["id"]) || null, name);
  return { kind: "tool-call", id, name, argumentsText: JSON.stringify(objectOf(call["args"])), seal, cache: null };
}

function readResult(result: JsonObject, ids: CallIds, warn: Warn): TurnPart {
  const name = textOf(result["name"]);
  if (name === null || name === "") throw invalid("contents", "contain a functionResponse without a name");
  const { text, isError } = readToolResponse(objectOf(result["response"]));
  const media = arrayOf(result["parts"]).map((part) => readMedia(camelKeys(part), warn));
  return {
    kind: "tool-result",
    callId: ids.result(textOf(result["id"]) || null, name),
    name,
    parts: [textPart(text), ...media.filter((part) => part !== null)],
    isError,
    cache: null,
  };
}

function readOther(part: JsonObject, parts: TurnPart[], warn: Warn): void {
  const code = codeText(part);
  const media = code === null ? readMedia(part, warn) : null;
  if (code !== null) parts.push(textPart(code));
  else if (media !== null) parts.push(media);
  else {
    const name = Object.keys(part).find((key) => !metadataMembers.has(key));
    if (name !== undefined) warn(`parts with ${quotableName(name)} are not supported by the upstream and were dropped`);
  }
}

const metadataMembers: ReadonlySet<string> = new Set(["thought", "thoughtSignature", "partMetadata"]);

function addText(parts: TurnPart[], text: string): void {
  const last = parts.at(-1);
  if (last?.kind === "text") parts[parts.length - 1] = { ...last, text: last.text + text };
  else parts.push(...textParts(text));
}

/** Pieces of a thought end with its signature. */
function addThought(parts: TurnPart[], text: string, seal: Seal | null, redacted: boolean): void {
  const last = parts.at(-1);
  if (last?.kind === "reasoning" && last.seal === null && !redacted) {
    parts[parts.length - 1] = { ...last, text: last.text + text, seal };
  } else if (text !== "" || seal !== null) {
    parts.push({ kind: "reasoning", text, seal, redacted });
  }
}

/** A signature on a text or an empty part belongs to the thought before it. */
function addSignature(parts: TurnPart[], seal: Seal, empty: boolean): void {
  const last = parts.at(-1);
  if (empty && (last?.kind === "reasoning" || last?.kind === "tool-call") && last.seal === null) {
    parts[parts.length - 1] = { ...last, seal };
  } else {
    parts.push({ kind: "reasoning", text: "", seal, redacted: false });
  }
}

/**
 * Creates ids for calls, which Gemini often lacks. They depend only on earlier content and stay the same as the history grows. A result
 * without an id answers the first open call of its name.
 */
class CallIds {
  readonly #usedIds = new Set<string>();
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #count = 0;

  call(id: string | null, name: string): string {
    const used = id ?? this.#invent();
    this.#usedIds.add(used);
    this.#open.push({ id: used, name });
    return used;
  }

  /** Creates an id if there is no such call. */
  result(id: string | null, name: string): string {
    const at = this.#open.findIndex((call) => (id === null ? call.name === name : call.id === id));
    const found = this.#open[at];
    if (found === undefined) return id ?? this.#invent();
    this.#open.splice(at, 1);
    return found.id;
  }

  #invent(): string {
    for (;;) {
      const id = `call_${this.#count++}`;
      if (!this.#usedIds.has(id)) return id;
    }
  }
}

/** Null for parts without media. */
function readMedia(part: JsonObject, warn: Warn): MediaPart | null {
  const { inlineData, fileData } = part;
  if (isObject(inlineData)) {
    const inline = camelKeys(inlineData);
    const data = textOf(inline["data"]);
    const mediaType = textOf(inline["mimeType"]);
    if (data === null || mediaType === null) throw invalid("contents", "contain inlineData without mimeType or data");
    return { ...mediaOf(mediaType, inline), source: { kind: "base64", mediaType, data } };
  }
  if (!isObject(fileData)) return null;
  const file = camelKeys(fileData);
  const uri = textOf(file["fileUri"]);
  const mediaType = textOf(file["mimeType"]);
  if (uri === null) throw invalid("contents", "contain fileData without fileUri");
  if (googleFileUrl.test(uri)) {
    return { ...mediaOf(mediaType, file), source: { kind: "file", id: uri, dialect: "gemini" } };
  }
  if (mediaType === null && !/^https?:\/\//.test(uri)) warn("a file without mimeType is treated as a document");
  return { ...mediaOf(mediaType, file), source: { kind: "url", url: uri, mediaType } };
}

function mediaOf(mediaType: string | null, holder: JsonObject): Omit<MediaPart, "source"> {
  const family = mediaType?.split("/", 1)[0];
  const kind = family === "image" || family === "audio" || family === "video" ? family : "document";
  return { kind, name: textOf(holder["displayName"]), detail: null, cache: null };
}
