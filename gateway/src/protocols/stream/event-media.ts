import { isAscii } from "node:buffer";
import { bounds } from "#core/index.ts";
import { asBuffer } from "../json/bytes.ts";
import { BACKSLASH, COLON, closingQuote, QUOTE } from "../json/cursor.ts";
import { eventLines } from "./sse-events.ts";

/** The JSON of an event without its media, to avoid searching or parsing megabytes. */
export interface EventWithoutMedia {
  readonly data: Uint8Array;
  /** The removed strings in order, each without its first characters, which stay in `data` before a mark. */
  readonly media: readonly Uint8Array[];
}

interface StringPlace {
  readonly end: number;
  readonly length: number;
}

/** Shorter strings are cheaper to parse than to remove. */
const mediaBytesMin = 16 * 1024;
/** Enough to read the type of a data URI or picture. */
const headBytes = 256;

/**
 * Removes the media from an event's JSON: long ASCII strings without escapes in `mediaMembers`. `markOf` returns the mark for each. Null
 * if more than `jsonBytesMax` bytes remain.
 */
export function setMediaAside(
  data: Uint8Array,
  jsonBytesMax: number,
  markOf: (index: number) => string,
): EventWithoutMedia | null {
  const json = asBuffer(data);
  const media: Uint8Array[] = [];
  const pieces: Uint8Array[] = [];
  let piecesBytes = 0;
  let from = 0;
  /** The previous string, which may be a member's name. */
  let before: StringPlace = { end: 0, length: 0 };
  for (let at = closingQuote(json, 0); at < json.length; ) {
    if (piecesBytes + at - from > jsonBytesMax) return null;
    const start = at + 1;
    let end = shortStringEnd(json, start);
    const name = end === -1 ? mediaName(json, before, start) : null;
    if (end === -1) {
      // Strings that are not media must end within the remaining bytes.
      const room = name === null ? json.subarray(0, from + jsonBytesMax - piecesBytes) : json;
      end = closingQuote(room, start);
      if (end === room.length && room.length < json.length) return null;
    }
    if (name !== null && end - start >= mediaBytesMin && isMedia(json, name, start, end)) {
      const cut = start + headBytes;
      const isRead = !discarded.has(name);
      const mark = Buffer.from(isRead ? markOf(media.length) : "", "latin1");
      if (isRead) media.push(json.subarray(cut, end));
      pieces.push(json.subarray(from, cut), mark);
      piecesBytes += cut - from + mark.length;
      from = end;
    }
    before = { end, length: end - start };
    at = closingQuote(json, end + 1);
  }
  if (piecesBytes + json.length - from > jsonBytesMax) return null;
  if (pieces.length === 0) return { data, media };
  pieces.push(json.subarray(from));
  return { data: Buffer.concat(pieces), media };
}

/** Returns -1 for longer strings. Short ones are faster without the runtime's search. */
function shortStringEnd(json: Buffer, start: number): number {
  for (let at = start; at < start + shortBytes; at++) {
    if (json[at] === QUOTE) return at;
    if (json[at] === BACKSLASH) at++;
  }
  return -1;
}

/** Null if the event is small or has no media. */
export function eventWithoutMedia(bytes: Uint8Array, start: number, end: number): Buffer | null {
  if (end - start <= bounds.builtEventBytesMax) return null;
  const { name, data } = eventLines(bytes, start, end);
  const small = dataWithoutMedia(data);
  if (small === data) return null;
  return Buffer.concat([Buffer.from(`${name === "" ? "" : `event: ${name}\n`}data: `), small, blankLine]);
}

export function dataWithoutMedia(data: Uint8Array): Uint8Array {
  if (data.length <= bounds.builtEventBytesMax) return data;
  return setMediaAside(data, bounds.eventJsonBytesMax, noMark)?.data ?? data;
}

/** The name of the member with its value at `start`, if it may hold media. */
function mediaName(json: Buffer, before: StringPlace, start: number): string | null {
  if (before.length > nameLengthMax) return null;
  for (let at = before.end + 1; at < start - 1; at++) if (json[at] !== COLON && json[at] !== BLANK) return null;
  const name = json.toString("latin1", before.end - before.length, before.end);
  return mediaMembers.has(name) ? name : null;
}

function isMedia(json: Buffer, name: string, start: number, end: number): boolean {
  const text = json.subarray(start, end);
  if (text.includes(BACKSLASH) || !isAscii(text)) return false;
  return !urlMembers.has(name) || dataUri.test(json.toString("latin1", start, start + headBytes));
}

const shortBytes = 64;
const BLANK = 0x20;
const blankLine = Buffer.from("\n\n");
const noMark = (): string => "";
/** Members that hold base64 in any dialect. */
const mediaMembers: ReadonlySet<string> = new Set([
  ...["data", "result", "b64_json", "partial_image_b64", "image_b64", "file_data"],
  ...["url", "image_url", "file_url"],
]);
/** Members that hold a data URI or a plain URL. */
const urlMembers: ReadonlySet<string> = new Set(["url", "image_url", "file_url", "file_data"]);
/** Draft pictures, which no other dialect has. */
const discarded: ReadonlySet<string> = new Set(["partial_image_b64"]);
const nameLengthMax = 32;
const dataUri = /^data:[^,]*;base64,/i;
