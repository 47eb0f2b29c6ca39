import { Failure, type WireDialectId } from "#core/index.ts";
import { type Edit, isObject, splice } from "#protocols/index.ts";
import { endOfText, isName } from "./text-ends.ts";

/** A file that a body names, and what the upstream gets in its place. */
export type PutFile =
  /** A name at the upstream's account. */
  | { readonly name: string; readonly as: string }
  /** The bytes, which are the next additional body of the job. */
  | { readonly name: string; readonly as: null; readonly mediaType: string; readonly filename: string };

interface PutFiles {
  readonly dialect: WireDialectId;
  readonly files: readonly PutFile[];
}

interface InlinedFile {
  readonly mediaType: string;
  readonly filename: string;
  readonly bytes: Uint8Array;
}

/** Members that name files, in all dialects but Interactions, where it is `uri`. */
const fileMembers: ReadonlySet<string> = new Set(["file_id", "file_ids", "fileUri", "file_uri"]);

/** Longer than any name of a file. */
const nameBytesMax = 4_096;
const QUOTE = 0x22;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const decoder = new TextDecoder();

/** Replaces names of files in a body that was checked as JSON before. Every other byte outside of inlined parts is unchanged. */
export function putFiles(body: Uint8Array, { dialect, files }: PutFiles, beside: readonly Uint8Array[]) {
  const names = new Map<string, string>();
  const inlined = new Map<string, InlinedFile>();
  let next = 0;
  for (const file of files) {
    if (file.as !== null) names.set(file.name, file.as);
    else inlined.set(file.name, { ...file, bytes: beside[next++] ?? new Uint8Array(0) });
  }
  const edits: Edit[] = [];
  /** Starts of the open objects. */
  const open: number[] = [];
  /** Files to inline, by the start of the part that they replace. */
  const parts = new Map<number, string>();
  let member = "";
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (byte === OPEN) open.push(at);
    else if (byte === CLOSE) {
      const start = open.pop() ?? 0;
      const name = parts.get(start);
      if (name === undefined) continue;
      const part = JSON.parse(decoder.decode(body.subarray(start, at + 1))) as Record<string, unknown>;
      const text = JSON.stringify(inlinedPart(dialect, part, name, inlined.get(name) as InlinedFile));
      edits.push({ start, end: at + 1, text });
    } else if (byte === QUOTE) {
      const start = at;
      at = endOfText(body, start) - 1;
      const isShort = at - start <= nameBytesMax;
      if (isName(body, at + 1)) member = isShort ? textIn(body, start, at + 1) : "";
      else if (isShort && (fileMembers.has(member) || (member === "uri" && dialect === "gemini-interactions"))) {
        const name = textIn(body, start, at + 1);
        const to = names.get(name);
        if (to !== undefined) edits.push({ start, end: at + 1, text: JSON.stringify(to) });
        else if (inlined.has(name)) parts.set(partStart(dialect, open, name), name);
      }
    }
  }
  return { made: splice(body, edits), answer: null };
}

/** The object that an inlined file replaces: in chat and Gemini the name is one level deeper. */
function partStart(dialect: WireDialectId, open: readonly number[], name: string): number {
  const start = open.at(dialect === "openai-chat" || dialect === "gemini" ? -2 : -1);
  if (start === undefined) throw notInlined(name);
  return start;
}

function inlinedPart(
  dialect: WireDialectId,
  part: Record<string, unknown>,
  name: string,
  { mediaType, filename, bytes }: InlinedFile,
): Record<string, unknown> {
  const text = isTextType(mediaType) ? textOf(bytes) : null;
  const data = text === null ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64") : "";
  const url = `data:${mediaType};base64,${data}`;
  const isPicture = mediaType.startsWith("image/");
  if (text === null && !isPicture && mediaType !== "application/pdf" && !dialect.startsWith("gemini")) {
    throw notInlined(name, mediaType);
  }
  if (dialect === "openai-chat" && isObject(part["file"])) {
    const { file: _file, type: _type, ...rest } = part;
    if (text !== null) return { ...rest, type: "text", text };
    if (isPicture) return { ...rest, type: "image_url", image_url: { url } };
    return { ...rest, type: "file", file: { filename, file_data: url } };
  }
  if (dialect === "openai-responses" && /^input_(?:file|image)$/.test(String(part["type"]))) {
    const { file_id: _id, type: _type, detail, ...rest } = part;
    if (text !== null) return { ...rest, type: "input_text", text };
    if (isPicture) return { ...rest, type: "input_image", image_url: url, ...(detail === undefined ? {} : { detail }) };
    return { ...rest, type: "input_file", filename, file_data: url };
  }
  if (dialect === "anthropic-messages" && part["type"] === "file") {
    if (text !== null) return { type: "text", media_type: "text/plain", data: text };
    return { type: "base64", media_type: mediaType, data };
  }
  if (dialect === "gemini" && (isObject(part["fileData"]) || isObject(part["file_data"]))) {
    const { fileData: _camel, file_data: _snake, ...rest } = part;
    return text === null ? { ...rest, inlineData: { mimeType: mediaType, data } } : { ...rest, text };
  }
  if (dialect === "gemini-interactions" && part["uri"] !== undefined) {
    const { uri: _uri, mime_type: _type, ...rest } = part;
    return text === null ? { ...rest, mime_type: mediaType, data } : { type: "text", text };
  }
  throw notInlined(name);
}

function isTextType(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|jsonl|xml|yaml)$|\+(?:json|xml)$/.test(mediaType);
}

/** null: it is not UTF-8. */
function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function notInlined(name: string, mediaType?: string): Failure {
  const kind = mediaType === undefined ? "" : ` of the type ${mediaType}`;
  return new Failure(
    "unsupported_by_model",
    `The provider of this model stores no files, and the file ${name}${kind} cannot be sent inside the request here.`,
    { param: "file_id", retry: "other" },
  );
}

function textIn(body: Uint8Array, start: number, end: number): string {
  return JSON.parse(decoder.decode(body.subarray(start, end))) as string;
}
