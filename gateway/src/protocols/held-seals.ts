import type { WireDialectId } from "#core/index.ts";
import { sealMark } from "./seal-text.ts";

/**
 * Whether a body of this dialect may hold what one of our translations sealed. Only looked for in the bytes, since almost
 * no body does: a text that speaks of seals is taken for one here, and left alone by whoever looks closer.
 */
export function holdsSeals(body: Uint8Array, dialect: WireDialectId): boolean {
  const looked = marks[dialect];
  if (looked === undefined) return false;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  return looked.some((mark) => bytes.includes(mark));
}

/** How the string begins: letters and digits, which no serialiser escapes. Whoever does so hides a seal from nobody but its vendor. */
const plainMarks = [Buffer.from(`"${sealMark.replace(/\W+$/, "")}`)];

/** By the dialects that have a field for a seal. */
const marks: Partial<Record<WireDialectId, readonly Buffer[]>> = {
  "anthropic-messages": plainMarks,
  "openai-responses": plainMarks,
  // As the base64 that Gemini wants its signatures to be: the first characters do not depend on the rest.
  gemini: [sealMark, "redacted:"].map((text) => Buffer.from(`"${base64Begin(text)}`)),
};

/** Of whole groups of three bytes only: what follows may change the others. */
function base64Begin(text: string): string {
  return Buffer.from(text)
    .toString("base64")
    .slice(0, Math.floor(text.length / 3) * 4);
}
