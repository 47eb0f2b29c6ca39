import { isAscii } from "node:buffer";
import { bounds, type CacheWrites, type InputTokens, noWrites } from "#core/index.ts";
import { asBuffer } from "#protocols/index.ts";
import type { Call } from "../call.ts";

/** The probable input in the body of a call, with a margin, and whether it asks for a prompt cache to be written. */
export interface InputGuess extends InputTokens {
  readonly writes: () => CacheWrites;
}

/** Text: four bytes a token, and half a token for each byte outside of ASCII (a Chinese character has three), with a quarter more. */
const bytesPerToken = 4;
const margin = 5 / 4;

export function guessInput({ facts, body, protocol }: Pick<Call, "facts" | "body" | "protocol">): InputGuess {
  if (facts.inputTokensMax !== undefined) return { text: 0, image: 0, audio: facts.inputTokensMax, writes: noWrites };
  if (!(body instanceof Uint8Array)) {
    return { text: Math.ceil(facts.inputEstimate * margin), image: 0, audio: 0, writes: noWrites };
  }
  const media = facts.namesMedia === false ? noMedia : inlineMedia(asBuffer(body));
  // The whole body: schemas of answers and other settings are input, too. An endpoint may read a part of it several times.
  const read = facts.namesMedia === true ? 0 : facts.inputEstimate;
  const textTokens = Math.max(read, (body.length - media.bytes) / bytesPerToken);
  const text = Math.ceil(textTokens * (1 + nonAsciiShare(body)) * margin) + media.document;
  const { image, audio } = media;
  return { text, image, audio, writes: () => cacheWrites(asBuffer(body), protocol.wireDialect) };
}

/**
 * Anthropic and Bedrock write a cache where the request marks one; OpenAI's newer models write by themselves, and what is
 * translated may be marked for its upstream.
 */
function cacheWrites(bytes: Buffer, dialect: string): CacheWrites {
  const asks = dialect !== "anthropic-messages" || bytes.includes(cacheControl);
  if (!asks) return "none";
  return bytes.includes(hourMark) || bytes.includes(halfDayMark) ? "long" : "short";
}

const cacheControl = Buffer.from("cache_control");
const hourMark = Buffer.from('"1h"');
const halfDayMark = Buffer.from('"12h"');

/** Of a large body some parts are sampled. */
function nonAsciiShare(bytes: Uint8Array): number {
  const parts = bytes.length > sampleBytes * samples ? samples : 1;
  if (parts === 1 && isAscii(bytes)) return 0;
  const size = parts === 1 ? bytes.length : sampleBytes;
  const step = parts === 1 ? 0 : (bytes.length - size) / (parts - 1);
  let count = 0;
  for (let part = 0; part < parts; part++) {
    const from = Math.floor(part * step);
    for (let at = from; at < from + size; at++) if ((bytes[at] as number) >= 0x80) count++;
  }
  return size === 0 ? 0 : count / (size * parts);
}

const samples = 64;
const sampleBytes = 512;

const noMedia = { bytes: 0, image: 0, audio: 0, document: 0 };

/** Tokens of the base64 in a body by kind, and its bytes. */
function inlineMedia(body: Buffer): typeof noMedia {
  const found = { bytes: 0, image: 0, audio: 0, document: 0, pdfBytes: 0 };
  let looks = 0;
  // Base64 holds no quotes, so the next one ends it.
  const take = (start: number): number => {
    const end = body.indexOf(QUOTE, start);
    if (end === -1) return body.length;
    if (body.subarray(start, Math.min(end, start + textLookBytes)).includes(SPACE)) return start;
    const kind = kindOf(Buffer.from(body.toString("latin1", start, start + 24), "base64").toString("latin1"));
    // A known kind counts however small: a picture of one color has few bytes.
    if (kind === "other" && end - start < mediaBytesMin) return start;
    found.bytes += end - start;
    const isCounted = kind === "pdf" && found.pdfBytes + end - start <= countedPdfBytesMax;
    if (isCounted) found.pdfBytes += end - start;
    const [side, tokens] = isCounted
      ? (["document", pdfTokens(body, start, end)] as const)
      : mediaTokens(kind, end - start);
    found[side] += tokens;
    return end;
  };
  for (let at = body.indexOf(dataUrl); at !== -1 && ++looks <= looksMax; at = body.indexOf(dataUrl, at)) {
    at = take(at + dataUrl.length);
  }
  for (let at = body.indexOf(dataMember); at !== -1 && ++looks <= looksMax; at = body.indexOf(dataMember, at)) {
    const start = body.indexOf(QUOTE, at + dataMember.length);
    if (start === -1) break;
    // A data URL there was counted above.
    const isUrl = body.subarray(start + 1, start + 6).toString("latin1") === "data:";
    at = isUrl || start - at > memberGapMax ? at + dataMember.length : take(start + 1);
  }
  return found;
}

const looksMax = 10_000;
const mediaBytesMin = 1_024;
/** Text has a space in its beginning, base64 none. */
const textLookBytes = 256;
/** Between a member's name and its string: a colon and some space. */
const memberGapMax = 16;
const QUOTE = 0x22;
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

/** Of a file that the vendor keeps, by its size and its media type or name: text, a picture, or what may be packed text. */
export function guessFile(bytes: number, type: string): number {
  if (/^image\/|\.(?:png|jpe?g|gif|webp)$/i.test(type)) return bounds.pictureTokensMax;
  const isText = /^text\/|^application\/(?:json|xml)|\.(?:txt|md|jsonl?|csv|html?|xml|[cm]?[jt]sx?|py)$/i.test(type);
  return Math.ceil(isText ? (bytes * margin) / bytesPerToken : (bytes * 4) / 3);
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
