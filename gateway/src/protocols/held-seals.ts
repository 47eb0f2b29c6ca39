import { sealMark } from "./seal-text.ts";

/** Whether JSON bytes hold a string that one of our translations sealed, and that is nothing else. */
export function holdsSeals(body: Uint8Array): boolean {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return marks.some((mark) => holdsString(bytes, mark));
}

/** As text, and as the base64 that Gemini wants its signatures to be: the first characters do not depend on the rest. */
const marks = [sealMark, base64Begin(sealMark), base64Begin("redacted:")].map((begin) => Buffer.from(`"${begin}`));

/** Of whole groups of three bytes only: what follows may change the others. */
function base64Begin(text: string): string {
  return Buffer.from(text)
    .toString("base64")
    .slice(0, Math.floor(text.length / 3) * 4);
}

const backslash = 0x5c;
const quote = 0x22;
/** Shorter than any seal. */
const sealBytesMin = 24;

function holdsString(bytes: Buffer, mark: Buffer): boolean {
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length)) {
    // An escaped quote stands inside a longer text.
    if (at > 0 && bytes[at - 1] === backslash) continue;
    let end = at + mark.length;
    while (isBase64(bytes[end])) end++;
    if (bytes[end] === quote && end - at > sealBytesMin) return true;
  }
  return false;
}

function isBase64(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLetter = (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x61 && byte <= 0x7a);
  return isDigit || isLetter || byte === 0x2b || byte === 0x2f || byte === 0x2d || byte === 0x5f || byte === 0x3d;
}
