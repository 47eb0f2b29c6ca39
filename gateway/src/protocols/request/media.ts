import { bounds, Failure } from "#core/index.ts";
import { asBuffer, splice } from "../json/bytes.ts";
import { OPEN_OBJECT, QUOTE, type Span, valueEnd } from "../json/cursor.ts";
import { readSpan, type ScanFindings } from "../json/scan.ts";
import { invalid } from "../json/value.ts";
import { mayEscapeNames, textAt, walkObjects } from "../json/walk.ts";
import { addressBounds } from "../usage/unseen-costs.ts";

/** Media that the upstream downloads. */
export interface MediaByUrl {
  readonly pictures: number;
  /** Video, audio, documents and media of an unknown kind. */
  readonly others: number;
}

/** Limits on URLs, above what any vendor accepts, and on members that may hold one. */
const addressesMax = 256;
const addressMembersMax = 10_000;

/**
 * Counts media named by URL in a checked body. The scan's name classes and a search of the bytes rule out most bodies. `isStoredByVendor`: URLs counted
 * among the named objects instead.
 */
export function countMediaByUrl(
  body: Uint8Array,
  { classes, longStrings }: Pick<ScanFindings, "classes" | "longStrings">,
  isStoredByVendor = (_address: string): boolean => false,
): MediaByUrl | undefined {
  if ((classes & ADDRESS_NAMES) === 0) return undefined;
  const bytes = asBuffer(body);
  if (!addressMarks.some((mark) => bytes.includes(mark)) && !mayEscapeNames(bytes)) return undefined;
  const found = { pictures: 0, others: 0 };
  const tooMany = walkObjects(
    bytes,
    addressNames,
    addressMembersMax,
    (member, object) => {
      const { name, start } = member;
      const isObject = bytes[start] === OPEN_OBJECT;
      let isPicture = addressBounds[name] === "picture";
      if (name === "source") {
        if (!isObject || textOrEmpty(bytes, member.type) !== "url") return;
        isPicture = textOrEmpty(bytes, object.type) === "image";
      } else {
        if (!member.hasTwoUrls && !isAddress(bytes, isObject ? member.url : start)) return;
        // Counted as a stored object.
        if (!isObject && isStoredByVendor(textOrEmpty(bytes, start))) return;
        isPicture ||= textOrEmpty(bytes, object.mimeType).startsWith("image/");
      }
      if (found.pictures + found.others > addressesMax) return;
      // Beyond the limit everything counts as a document.
      if (isPicture && found.pictures + found.others < addressesMax) found.pictures++;
      else found.others++;
    },
    longStrings,
  );
  if (tooMany !== null) found.others++;
  return found;
}

/** The string that begins at `start`, or an empty text. */
function textOrEmpty(bytes: Buffer, start: number): string {
  return start === -1 ? "" : (textAt(bytes, start) ?? "");
}

function isAddress(bytes: Buffer, start: number): boolean {
  return bytes[start] === QUOTE && bytes[start + 1] !== QUOTE && !isDataUrl(bytes, start);
}

function isDataUrl(bytes: Buffer, start: number): boolean {
  return /^data:/i.test(bytes.toString("latin1", start + 1, start + 6));
}

/** Members that may hold a URL of media, and their bit in the filter of names. */
export const addressNames: ReadonlySet<string> = new Set(["source", ...Object.keys(addressBounds)]);
export const ADDRESS_NAMES = 16;
const addressMarks = ['_url"', '"url"', '"fileUri"', '"file_uri"'].map((mark) => Buffer.from(mark));

/** A URL in a body and the span to replace with the media. */
export interface MediaUrl {
  readonly url: string;
  readonly span: Span;
  /** An Anthropic source object; otherwise the span holds only the URL. */
  readonly asSource: boolean;
}

/** URLs of media that the upstream would download; data URLs are not included. Throws Failure invalid_request for other schemes. */
export function mediaUrlsIn(body: Uint8Array): readonly MediaUrl[] {
  if (!mayHoldMediaUrls(body)) return [];
  const bytes = asBuffer(body);
  const found: MediaUrl[] = [];
  walkObjects(
    bytes,
    urlNames,
    Number.POSITIVE_INFINITY,
    ({ name, start, type, url: urlAt, hasTwoUrls, hasTwoTypes }) => {
      const asSource = name === "source";
      const at = asSource || bytes[start] === OPEN_OBJECT ? urlAt : start;
      // The upstream may use the other of two duplicates, and fetch a URL that was not checked.
      if (asSource && hasTwoTypes && urlAt !== -1) throw invalid("type", "must occur only once in an object");
      if (asSource && textOrEmpty(bytes, type) !== "url") return;
      if (hasTwoUrls) throw invalid("url", "must occur only once in an object");
      if (bytes[at] !== QUOTE || isDataUrl(bytes, at)) return;
      const param = at === start ? name : "url";
      const span = { start: at, end: valueEnd(bytes, at) };
      if (span.end - at > bounds.urlBytesMax * 6) throw invalid(param, "is longer than any address");
      const url = String(readSpan(bytes, span));
      if (!/^https?:\/\//i.test(url)) throw invalid(param, "must be an http(s) URL or a data URL");
      if (param === "file_url") throw invalid(param, "cannot be fetched for this model: send the content inline");
      found.push({ url, span: asSource ? { start, end: -1 } : span, asSource });
    },
  );
  found.sort((one, other) => one.span.start - other.span.start);
  return withSourceEnds(bytes, found);
}

/** Finds the end of each source object. Nested ones are rejected first, so that no byte is read twice. */
function withSourceEnds(bytes: Buffer, found: readonly MediaUrl[]): readonly MediaUrl[] {
  let last = 0;
  return found.map((media) => {
    const { start } = media.span;
    if (start < last) throw invalid("source", "must not contain another address");
    last = media.asSource ? valueEnd(bytes, start) : media.span.end;
    return { ...media, span: { start, end: last } };
  });
}

/** A quick search of the bytes. */
export function mayHoldMediaUrls(body: Uint8Array): boolean {
  const bytes = asBuffer(body);
  return urlMarks.some((mark) => bytes.includes(mark)) || mayEscapeNames(bytes);
}

/** The body with media in place of their URLs. Throws Failure invalid_request if they are too large. */
export function inlineMediaUrls(
  body: Uint8Array,
  urls: readonly MediaUrl[],
  found: ReadonlyMap<string, { readonly mediaType: string; readonly data: string }>,
): Uint8Array {
  const room = new InlineMediaBudget();
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

/** Members that hold media or URLs of media in any dialect. */
export const mediaNames: readonly string[] = [
  ...["url", "image_url", "video_url", "audio_url", "file_url", "document_url", "fileUri", "file_uri"],
  ...["data", "file_data", "file", "image", "images", "video", "audio"],
];

const urlNames: ReadonlySet<string> = new Set(["image_url", "video_url", "audio_url", "file_url", "source"]);
const urlMarks = ['_url"', '"url"'].map((mark) => Buffer.from(mark));

/** Bounds the inlined media of one call: a URL may occur many times. */
export class InlineMediaBudget {
  #charactersLeft = Math.ceil(bounds.inlinedBytesMax / 3) * 4;

  /** Throws Failure invalid_request if the base64 exceeds the budget. */
  take(characters: number): void {
    this.#charactersLeft -= characters;
    if (this.#charactersLeft >= 0) return;
    throw new Failure(
      "invalid_request",
      `The media of this call, downloaded from their URLs, exceed ${bounds.inlinedBytesMax} bytes.`,
      { param: "messages" },
    );
  }
}

/** Span of the base64 of the next data URL. */
export function nextDataUrl(bytes: Buffer, from: number): Span | null {
  const at = bytes.indexOf(dataUrl, from);
  if (at === -1) return null;
  const start = at + dataUrl.length;
  const end = bytes.indexOf(QUOTE, start);
  return end === -1 ? null : { start, end };
}

/** Span of the string of the next member `data`. */
export function nextDataMember(bytes: Buffer, from: number): Span | null {
  for (let at = bytes.indexOf(dataMember, from); at !== -1; at = bytes.indexOf(dataMember, at)) {
    const name = at;
    at += dataMember.length;
    const start = bytes.indexOf(QUOTE, at) + 1;
    if (start === 0) return null;
    if (start - 1 - name > memberGapMax) continue;
    const end = bytes.indexOf(QUOTE, start);
    return end === -1 ? null : { start, end };
  }
  return null;
}

export const noInlineMedia = { bytes: 0, image: 0, audio: 0, document: 0 };

/** Estimated tokens of inline base64 by kind, and its bytes. */
export function measureInlineMedia(body: Buffer): typeof noInlineMedia {
  const found = { bytes: 0, image: 0, audio: 0, document: 0, pdfBytes: 0 };
  let searches = 0;
  let next = 0;
  const take = ({ start, end }: Span): void => {
    next = start;
    if (body.subarray(start, Math.min(end, start + textProbeBytes)).includes(SPACE)) return;
    const kind = kindOf(Buffer.from(body.toString("latin1", start, start + 24), "base64").toString("latin1"));
    // Known formats count at any size: a picture of one color is small.
    if (kind === "other" && end - start < mediaBytesMin) return;
    next = end;
    found.bytes += end - start;
    const isCounted = kind === "pdf" && found.pdfBytes + end - start <= countedPdfBytesMax;
    if (isCounted) found.pdfBytes += end - start;
    const [side, tokens] = isCounted
      ? (["document", pdfTokens(body, start, end)] as const)
      : mediaTokens(kind, end - start);
    found[side] += tokens;
  };
  for (let span = nextDataUrl(body, 0); span !== null && ++searches <= searchesMax; span = nextDataUrl(body, next)) {
    take(span);
  }
  next = 0;
  for (
    let span = nextDataMember(body, 0);
    span !== null && ++searches <= searchesMax;
    span = nextDataMember(body, next)
  ) {
    // Counted above.
    if (body.subarray(span.start, span.start + 5).toString("latin1") === "data:") next = span.end;
    else take(span);
  }
  return found;
}

const searchesMax = 10_000;
const mediaBytesMin = 1_024;
/** Text contains a space early on, base64 never. */
const textProbeBytes = 256;
/** A colon and some white space. */
const memberGapMax = 16;
const SPACE = 0x20;
const dataUrl = Buffer.from(";base64,");
const dataMember = Buffer.from('"data"');

type Kind = "picture" | "sound" | "film" | "pdf" | "other";

/** `bytes`: of base64. */
function mediaTokens(kind: Kind, bytes: number): readonly [side: "image" | "audio" | "document", tokens: number] {
  switch (kind) {
    case "picture":
      return ["image", bounds.pictureTokensMax];
    case "sound":
      // 32 tokens a second (Gemini; others count fewer) at 6 kbit/s.
      return ["audio", Math.ceil(bytes / 24)];
    case "film":
      // 300 tokens a second at 15 kbit/s.
      return ["image", bounds.pictureTokensMax + Math.ceil(bytes / 8)];
    default:
      // A compressed document may have as many tokens as bytes.
      return ["document", bytes];
  }
}

function kindOf(head: string): Kind {
  const format = head.startsWith("RIFF") ? head.slice(8, 12) : "";
  if (/^(?:\x89PNG|\xff\xd8\xff|GIF8|II\*|MM.\*|.{4}ftyp(?:hei|avif))/s.test(head) || format === "WEBP")
    return "picture";
  if (/^(?:ID3|fLaC|OggS|\xff[\xe0-\xff])/.test(head) || format === "WAVE") return "sound";
  if (head.startsWith("\x1aE\xdf\xa3") || head.slice(4, 8) === "ftyp" || format === "AVI ") return "film";
  return head.startsWith("%PDF") ? "pdf" : "other";
}

/**
 * Counts pages unless they are in packed objects. Vendors read a page as text and picture (Anthropic: 1,500 to 3,000 tokens of text
 * besides the picture).
 */
function pdfTokens(body: Buffer, start: number, end: number): number {
  const bytes = end - start;
  const pdf = Buffer.from(body.toString("latin1", start, end), "base64").toString("latin1");
  const pages = pdf.includes("/ObjStm") ? 0 : (pdf.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0);
  return pages === 0 ? bytes : pages * pdfPageTokens;
}

/** Counting pages takes about 4 ms per MB. */
const countedPdfBytesMax = 2 * 1024 * 1024;
const pdfPageTokens = 6_000;
