import { bounds } from "#core/index.ts";
import { QUOTE, type Span } from "../json/cursor.ts";

/** The base64 of the next data URL. Base64 holds no quotes, so the next one ends it. */
export function nextDataUrl(bytes: Buffer, from: number): Span | null {
  const at = bytes.indexOf(dataUrl, from);
  if (at === -1) return null;
  const start = at + dataUrl.length;
  const end = bytes.indexOf(QUOTE, start);
  return end === -1 ? null : { start, end };
}

/** The string of the next member `data`. */
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

export const noMedia = { bytes: 0, image: 0, audio: 0, document: 0 };

/** Tokens of the base64 in a body by kind, and its bytes. */
export function inlineMedia(body: Buffer): typeof noMedia {
  const found = { bytes: 0, image: 0, audio: 0, document: 0, pdfBytes: 0 };
  let looks = 0;
  let next = 0;
  const take = ({ start, end }: Span): void => {
    next = start;
    if (body.subarray(start, Math.min(end, start + textLookBytes)).includes(SPACE)) return;
    const kind = kindOf(Buffer.from(body.toString("latin1", start, start + 24), "base64").toString("latin1"));
    // A known kind counts however small: a picture of one color has few bytes.
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
  for (let span = nextDataUrl(body, 0); span !== null && ++looks <= looksMax; span = nextDataUrl(body, next)) {
    take(span);
  }
  next = 0;
  for (let span = nextDataMember(body, 0); span !== null && ++looks <= looksMax; span = nextDataMember(body, next)) {
    // A data URL was counted above.
    if (body.subarray(span.start, span.start + 5).toString("latin1") === "data:") next = span.end;
    else take(span);
  }
  return found;
}

const looksMax = 10_000;
const mediaBytesMin = 1_024;
/** Text has a space in its beginning, base64 none. */
const textLookBytes = 256;
/** Between a member's name and its string: a colon and some space. */
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
      // 32 tokens a second (Gemini; others count fewer), at 6 kbit/s.
      return ["audio", Math.ceil(bytes / 24)];
    case "film":
      // 300 tokens a second, at 15 kbit/s.
      return ["image", bounds.pictureTokensMax + Math.ceil(bytes / 8)];
    default:
      // A packed document may have as many tokens as bytes.
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
 * By its pages, where they can be counted: not in one whose objects are packed. Vendors read a page as text and picture (Anthropic:
 * 1,500 to 3,000 tokens of text, beside the picture).
 */
function pdfTokens(body: Buffer, start: number, end: number): number {
  const bytes = end - start;
  const pdf = Buffer.from(body.toString("latin1", start, end), "base64").toString("latin1");
  const pages = pdf.includes("/ObjStm") ? 0 : (pdf.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0);
  return pages === 0 ? bytes : pages * pdfPageTokens;
}

/** Base64 of one call whose pages are counted: some 4 ms for each MB. */
const countedPdfBytesMax = 2 * 1024 * 1024;
const pdfPageTokens = 6_000;
