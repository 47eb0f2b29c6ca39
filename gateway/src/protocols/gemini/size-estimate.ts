import type { Span } from "../json/cursor.ts";
import { nextDataMember } from "../request/inline-media.ts";

/** Tokens of JSON text at four bytes each; base64 inside `inlineData` counts as the picture or sound that it is. */
export function estimateTokens(bytes: Uint8Array, span: Span | undefined): number {
  if (span === undefined) return 0;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + span.start, span.end - span.start);
  let size = text.length;
  let mediaTokens = 0;
  for (const mark of inlineMarks) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at)) {
      at += mark.length;
      const data = nextDataMember(text, at);
      // Behind a mark without data there is none for the later ones either; to look each time would take the square of it.
      if (data === null) break;
      size -= data.end - data.start;
      mediaTokens += mediaTokensMin + Math.ceil((data.end - data.start) / base64BytesPerToken);
      at = data.end;
    }
  }
  return Math.ceil(size / 4) + mediaTokens;
}

/**
 * A tile of a picture counts 258 tokens, sound 32 and film 263 tokens a second (Gemini API docs, "Understand and count
 * tokens"); about one token for 512 bytes of base64 lies between photographs, speech and scanned pages.
 */
const mediaTokensMin = 258;
const base64BytesPerToken = 512;

const inlineMarks = [Buffer.from('"inlineData"'), Buffer.from('"inline_data"')];
