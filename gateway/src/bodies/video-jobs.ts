import { createHash } from "node:crypto";
import { bounds, Failure, type Provider, type VideoTurn } from "#core/index.ts";
import type { BlobInfo } from "#ports/index.ts";
import {
  formMembers,
  isObject,
  type JsonObject,
  parseBounded,
  type RemixedVideo,
  type RenamedMembers,
  readFormContent,
  readVideoMembers,
} from "#protocols/index.ts";
import { providerKind } from "#providers/index.ts";
import { type CarriedMedia, carriedMedia } from "./carried-media.ts";

/** Longer texts are material: `data:` URIs, and other texts (plain base64) except addresses. Prompts never are. */
const taskDataInPlaceCharactersMax = 1024;
const taskTextInPlaceCharactersMax = 8 * 1024;

/**
 * Replaces material that is stored separately: the hash of the stored bytes, and the part of them. Callers cannot forge one, because
 * the hashed bytes contain the task's id.
 */
interface Mark {
  readonly hash: string;
  readonly start: number;
  readonly length: number;
}

/** The text of a mark. `head`: the beginning of a `data:` URI, which stays so that its type can be checked. */
function markText(head: string, { hash, start, length }: Mark): string {
  return `${head}sluice-material:${hash}:${start}:${length}`;
}

const markForm = /^(.{0,256})sluice-material:([0-9a-f]{64}):(\d{1,9}):(\d{1,9})$/s;
const markCharactersMax = 512;

/** Parses a text into its head and its mark; null: it has no mark. */
export function markIn(text: string): { readonly head: string; readonly mark: Mark } | null {
  const found = text.length > markCharactersMax ? null : markForm.exec(text);
  if (found === null) return null;
  const [, head = "", hash = "", start, length] = found;
  return { head, mark: { hash, start: Number(start), length: Number(length) } };
}

/** Splits a text into the head, which stays, and the material. null: all of it stays. */
function materialIn(text: string): { readonly head: string; readonly material: string } | null {
  if (text.length <= taskDataInPlaceCharactersMax) return null;
  const data = /^data:[^,]{0,250},/i.exec(text)?.[0] ?? null;
  if (data === null && text.length <= taskTextInPlaceCharactersMax) return null;
  // Assets are resolved by their id, and a malformed string cannot be stored as text.
  if (/^asset:/i.test(text) || !text.isWellFormed()) return null;
  const head = data ?? "";
  return { head, material: text.slice(head.length) };
}

/** Replaces every text of the object except prompts and settings. */
function withTexts(value: JsonObject, replace: (text: string) => string): JsonObject {
  return replaced(value, replace) as JsonObject;
}

function replaced(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((one) => replaced(one, replace));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    textMembers.has(name.toLowerCase()) ? one : replaced(one, replace),
  ]);
  return Object.fromEntries(members);
}

/** Members with prompts and settings, at any depth. */
const textMembers: ReadonlySet<string> = new Set(["model", "prompt", "text", "metadata", "callback_url"]);

/** A body with OpenAI's members of a video. */
export interface OpenAiVideoBody {
  /** The form's boundary; null: the body is JSON. */
  readonly boundary: string | null;
  /** The video to remix; null: none. */
  readonly remix: RemixedVideo | null;
}

interface VideoBodyAsk {
  readonly taskId: string;
  readonly apart: boolean;
  /** null: its members are those of a task. */
  readonly openai: OpenAiVideoBody | null;
}

interface VideoBodyAnswer {
  /** The body as JSON text, with marks instead of material. */
  readonly text: string;
  /** SHA-256, lower-case hex, of the body; for OpenAI's bodies, of their translation, because the boundaries of forms differ. */
  readonly digest: string;
  /** The caller's names for members of the text. */
  readonly renamed: RenamedMembers;
  readonly material: BlobInfo | null;
}

/**
 * Reads the body of a video task. Its material is joined into the bytes to store: the task's id, which makes them unique, then each text
 * in order.
 */
export function readVideoBody(
  body: Uint8Array,
  { taskId, apart, openai }: VideoBodyAsk,
): { readonly made: Uint8Array | null; readonly answer: VideoBodyAnswer } {
  const { value, written, renamed } = openai === null ? ownBody(body) : translated(body, openai);
  const digest = sha256(written);
  if (!apart || written.length <= bounds.taskBodyInPlaceBytesMax) {
    return { made: null, answer: { text: new TextDecoder().decode(written), digest, renamed, material: null } };
  }
  const texts: string[] = [`${taskId}\n`];
  withTexts(value, (text) => {
    const found = materialIn(text);
    if (found !== null) texts.push(found.material);
    return text;
  });
  const made = texts.length === 1 ? null : encoded(texts);
  const hash = made === null ? "" : sha256(made);
  let start = byteLength(texts[0] ?? "");
  const outline = withTexts(value, (text) => {
    const found = materialIn(text);
    if (found === null) return text;
    const length = byteLength(found.material);
    const mark = markText(found.head, { hash, start, length });
    start += length;
    return mark;
  });
  const text = JSON.stringify(outline);
  if (byteLength(text) > bounds.taskOutlineBytesMax) throw tooMuch();
  return { made, answer: { text, digest, renamed, material: made === null ? null : { hash, size: made.length } } };
}

interface WrittenBody {
  readonly value: JsonObject;
  readonly written: Uint8Array;
  readonly renamed: RenamedMembers;
}

function ownBody(body: Uint8Array): WrittenBody {
  return { value: parseBounded(body, limits), written: body, renamed: {} };
}

/** Translates an OpenAI body into a task's. A file grows by a third in base64. */
function translated(body: Uint8Array, { boundary, remix }: OpenAiVideoBody): WrittenBody {
  const sent = boundary === null ? parseBounded(body, limits) : formMembers(readFormContent(body, boundary));
  const { members, renamed } = readVideoMembers(sent, remix);
  const written = encoder.encode(JSON.stringify(members));
  if (written.length <= bounds.taskRequestBytesMax) return { value: members, written, renamed };
  throw new Failure(
    "request_too_large",
    `With its material in base64 the body is larger than ${bounds.taskRequestBytesMax} bytes; give material by URL or as an asset.`,
  );
}

const limits = { values: bounds.plainValuesMax, members: bounds.plainMembersMax };

function encoded(texts: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(texts.reduce((sum, text) => sum + byteLength(text), 0));
  let end = 0;
  for (const text of texts) end += encoder.encodeInto(text, bytes.subarray(end)).written;
  return bytes;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

const byteLength = (text: string): number => Buffer.byteLength(text);
const encoder = new TextEncoder();

function tooMuch(): Failure {
  return new Failure(
    "request_too_large",
    `Apart from its material the body is larger than ${bounds.taskOutlineBytesMax} bytes.`,
  );
}

interface VideoRequestAsk {
  /** Without its secret. */
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly turn: VideoTurn;
  readonly taskId: string;
  readonly callbackUrl: string | null;
  /** null: there is no material, and marks are plain text. */
  readonly material: BlobInfo | null;
  /** Media by the addresses that they replace. */
  readonly media: readonly CarriedMedia[];
}

/** Writes the request for a video. Material and media are inserted before the vendor's adapter reads the turn. */
export function writeVideoRequest(body: Uint8Array, ask: VideoRequestAsk, beside: readonly Uint8Array[]) {
  const { provider, upstreamModel, taskId, callbackUrl, material, media } = ask;
  const adapter = providerKind(provider.kind)?.video;
  if (adapter === undefined) throw new Error(`The kind ${provider.kind} makes no videos.`);
  if (material !== null && body.length !== material.size) throw cutShort();
  const found = carriedMedia(media, beside);
  const inPlace = (text: string): string => {
    const one = found.get(text);
    if (one !== undefined) return `data:${one.mediaType};base64,${one.data}`;
    return material === null ? text : unmarked(text, body, material);
  };
  const turn = material === null && media.length === 0 ? ask.turn : withEachIn(ask.turn, inPlace);
  const draft = adapter.create({ provider, upstreamModel, turn, taskId, callbackUrl });
  const { method, url, headers } = draft;
  return { made: draft.body, answer: { method, url, headers: { ...headers } } };
}

function unmarked(text: string, body: Uint8Array, { hash }: BlobInfo): string {
  const found = markIn(text);
  if (found === null || found.mark.hash !== hash) return text;
  const { start, length } = found.mark;
  return found.head + decoder.decode(body.subarray(start, start + length));
}

/** A byte order mark at the beginning of a text is part of the text. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function cutShort(): Failure {
  return new Failure("internal_error", "The stored material of the task is incomplete.");
}

/** Prompts are unchanged. */
function withEachIn(turn: VideoTurn, replace: (text: string) => string): VideoTurn {
  const { material, content, vendorFields } = turn;
  const replaced = withEach({ material, content, vendorFields }, replace) as Pick<
    VideoTurn,
    "material" | "content" | "vendorFields"
  >;
  return { ...turn, ...replaced };
}

function withEach(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((one) => withEach(one, replace));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withEach(one, replace)]));
}
