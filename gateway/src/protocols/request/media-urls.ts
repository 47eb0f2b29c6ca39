import { bounds, Failure } from "#core/index.ts";
import { asBuffer, splice } from "../json/bytes.ts";
import { COLON, QUOTE, type Span, skipSpaceBack, valueEnd } from "../json/cursor.ts";
import { readSpan } from "../json/scan.ts";
import { objectOf, textOf, wrong } from "../json/value.ts";
import { mayEscape, walkMembers } from "../json/walk.ts";

/** An address of media in a body, and what of the body gives way to what stands there. */
export interface MediaUrl {
  readonly url: string;
  readonly span: Span;
  /** Anthropic's source object; else the address itself, for which a data URL may stand. */
  readonly asSource: boolean;
}

/**
 * The addresses at which the upstream would fetch pictures, films, sounds and documents, in the dialects that name them by
 * URL. Data URLs are none. Throws Failure invalid_request for an address that is not of the web.
 */
export function mediaUrlsIn(body: Uint8Array): readonly MediaUrl[] {
  if (!mayNameMedia(body)) return [];
  const bytes = asBuffer(body);
  const found: MediaUrl[] = [];
  const sources = new ObjectsOnce(
    bytes,
    (start) => valueEnd(bytes, start),
    (start, end) => smallObject(bytes, start, end),
  );
  walkMembers(bytes, names, (name, start, object) => {
    if (bytes[start] !== QUOTE) return;
    const span = { start, end: valueEnd(bytes, start) };
    if (isData(bytes, span)) return;
    if (span.end - start > bounds.urlBytesMax * 6) throw wrong(name, "is longer than any address");
    const url = String(readSpan(bytes, span));
    const holder = name === "url" ? holderOf(bytes, object) : "";
    const asSource = holder === "source" && textOf(sources.at(object)?.["type"]) === "url";
    // Many things have a `url`; media is what such a member holds.
    if (name === "url" && !asSource && !mediaMembers.has(holder)) return;
    if (!/^https?:\/\//i.test(url)) throw wrong(name, "must be an address of the web, or a data URL");
    if (name === "file_url") throw wrong(name, "cannot be fetched for this model: send what stands there");
    // One object may name several; it gives way once.
    if (asSource && found.at(-1)?.span.start === object) return;
    found.push(
      asSource ? { url, span: { start: object, end: valueEnd(bytes, object) }, asSource } : { url, span, asSource },
    );
  });
  return found;
}

/** Whether there may be any: only looked for in the bytes. */
export function mayNameMedia(body: Uint8Array): boolean {
  const bytes = asBuffer(body);
  return marks.some((mark) => bytes.includes(mark)) || mayEscape(bytes);
}

/** The body with what was found in the place of its addresses. Throws Failure invalid_request when that is too much. */
export function withMediaInPlace(
  body: Uint8Array,
  urls: readonly MediaUrl[],
  found: ReadonlyMap<string, { readonly mediaType: string; readonly data: string }>,
): Uint8Array {
  const room = new MediaRoom();
  return splice(
    body,
    urls.map(({ url, span, asSource }) => {
      const { mediaType = "", data = "" } = found.get(url) ?? {};
      room.take(data.length);
      const text = asSource
        ? JSON.stringify({ type: "base64", media_type: mediaType, data })
        : JSON.stringify(`data:${mediaType};base64,${data}`);
      return { ...span, text };
    }),
  );
}

function isData(bytes: Buffer, { start }: Span): boolean {
  return /^data:/i.test(bytes.toString("latin1", start + 1, start + 6));
}

/** The name of the member that an object is the value of; empty for none. */
function holderOf(bytes: Buffer, object: number): string {
  const colon = skipSpaceBack(bytes, object - 1);
  if (bytes[colon] !== COLON) return "";
  const close = skipSpaceBack(bytes, colon - 1);
  return String(readSpan(bytes, { start: bytes.lastIndexOf(QUOTE, close - 1), end: close + 1 }));
}

/** Empty for one that is larger than any source with an address. */
function smallObject(bytes: Buffer, start: number, end: number): Readonly<Record<string, unknown>> {
  return end - start > bounds.urlBytesMax * 8 ? {} : objectOf(readSpan(bytes, { start, end }));
}

/** Names of members, in any dialect, that hold media or their addresses: a body without them has none of either. */
export const mediaNames: readonly string[] = [
  ...["url", "image_url", "video_url", "audio_url", "file_url", "document_url", "fileUri", "file_uri"],
  ...["data", "file_data", "file", "image", "images", "video", "audio"],
];

const mediaMembers: ReadonlySet<string> = new Set(["image_url", "video_url", "audio_url", "file_url"]);
const names: ReadonlySet<string> = new Set([...mediaMembers, "url"]);
const marks = ['_url"', '"url"'].map((mark) => Buffer.from(mark));

/** How much is put in the place of addresses in one call: one address may stand in it a thousand times. */
export class MediaRoom {
  #charactersLeft = Math.ceil(bounds.inlinedBytesMax / 3) * 4;

  /** Takes base64 of this length. Throws Failure invalid_request when it is too much. */
  take(characters: number): void {
    this.#charactersLeft -= characters;
    if (this.#charactersLeft >= 0) return;
    throw new Failure(
      "invalid_request",
      `What stands at the addresses of media in one call has more than ${bounds.inlinedBytesMax} bytes.`,
      { param: "messages" },
    );
  }
}

/**
 * Reads the objects of a body around members of theirs that were found: each once, however many of its members are found,
 * and all together no more than a few times the body, however deep they stand in each other. null: no more is read.
 */
class ObjectsOnce<Value> {
  readonly #read: (start: number, end: number) => Value;
  readonly #endOf: (start: number) => number;
  readonly #known = new Map<number, Value | null>();
  #bytesLeft: number;

  constructor(bytes: Uint8Array, endOf: (start: number) => number, read: (start: number, end: number) => Value) {
    this.#read = read;
    this.#endOf = endOf;
    this.#bytesLeft = bytes.length * timesMax;
  }

  at(start: number): Value | null {
    const known = this.#known.get(start);
    if (known !== undefined) return known;
    const end = this.#bytesLeft > 0 ? this.#endOf(start) : start;
    this.#bytesLeft -= end - start;
    const value = this.#bytesLeft > 0 ? this.#read(start, end) : null;
    this.#known.set(start, value);
    return value;
  }
}

const timesMax = 4;
