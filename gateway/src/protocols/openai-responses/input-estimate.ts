import type { Span } from "../json/cursor.ts";
import { nextDataUrl } from "../request/inline-media.ts";

/**
 * A guess at the input's tokens: one for four bytes of JSON. Pictures and files inline as base64 are counted apart:
 * a picture costs about the same whatever its size in bytes, and a document is far larger in bytes than in text.
 */
export function estimateInput(body: Uint8Array, spans: readonly (Span | undefined)[]): number {
  let tokens = 0;
  for (const span of spans) if (span !== undefined) tokens += estimate(body, span);
  return Math.ceil(tokens);
}

const pictureTokens = 1_000;
const fileBytesPerToken = 64;
const bytesPerToken = 4;
/** Shorter ones are counted like text. */
const base64BytesMin = 2_048;

const pictureMark = Buffer.from("data:image/", "latin1");
/** A media type with its parameters is in this many bytes before the data. */
const mediaTypeBytesMax = 72;

function estimate(body: Uint8Array, span: Span): number {
  const view = Buffer.from(body.buffer, body.byteOffset + span.start, span.end - span.start);
  let textBytes = view.length;
  let mediaTokens = 0;
  for (let found = nextDataUrl(view, 0); found !== null; found = nextDataUrl(view, found.end)) {
    const bytes = found.end - found.start;
    if (bytes < base64BytesMin) continue;
    textBytes -= bytes;
    const picture = view.subarray(Math.max(0, found.start - mediaTypeBytesMax), found.start).includes(pictureMark);
    mediaTokens += picture ? pictureTokens : bytes / fileBytesPerToken;
  }
  return textBytes / bytesPerToken + mediaTokens;
}
