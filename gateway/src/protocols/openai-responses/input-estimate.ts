import type { Span } from "../json-scan.ts";

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

const base64Mark = Buffer.from(";base64,", "latin1");
const pictureMark = Buffer.from("data:image/", "latin1");
/** A media type with its parameters stands in this many bytes before the mark. */
const mediaTypeBytesMax = 64;
const QUOTE = 0x22;

function estimate(body: Uint8Array, span: Span): number {
  const view = Buffer.from(body.buffer, body.byteOffset + span.start, span.end - span.start);
  let textBytes = view.length;
  let mediaTokens = 0;
  let at = view.indexOf(base64Mark);
  while (at !== -1) {
    const from = at + base64Mark.length;
    const quote = view.indexOf(QUOTE, from);
    const to = quote === -1 ? view.length : quote;
    if (to - from >= base64BytesMin) {
      textBytes -= to - from;
      const picture = view.subarray(Math.max(0, at - mediaTypeBytesMax), at).includes(pictureMark);
      mediaTokens += picture ? pictureTokens : (to - from) / fileBytesPerToken;
    }
    at = view.indexOf(base64Mark, to);
  }
  return textBytes / bytesPerToken + mediaTokens;
}
