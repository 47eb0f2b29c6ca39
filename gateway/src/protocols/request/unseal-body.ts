import type { WireDialectId } from "#core/index.ts";
import { unsealMessages } from "../anthropic-messages/unseal-messages.ts";
import type { Warn } from "../codec.ts";
import { unsealContents } from "../gemini/unseal-contents.ts";
import type { Edit } from "../json/bytes.ts";
import { splice } from "../json/bytes.ts";
import { skipSpace } from "../json/cursor.ts";
import { unsealInput } from "../openai-responses/unseal-input.ts";
import { sealMark } from "../turn/seal-text.ts";

export interface Unsealing {
  /** Of the body, which is its upstream's own. */
  readonly dialect: WireDialectId;
  readonly upstreamModel: string;
}

/**
 * A body without what other vendors sealed in an earlier turn of its conversation: the upstream could not read it, and
 * would refuse the whole. Every other byte stays as it is. For bodies whose grammar was checked.
 */
export function unsealBody(body: Uint8Array, { dialect, upstreamModel }: Unsealing, warn: Warn): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const start = skipSpace(bytes, 0);
  const cuts = cutsIn(bytes, start, { dialect, upstreamModel }, warn);
  return cuts.length === 0
    ? body
    : splice(
        body,
        [...cuts].sort((a, b) => a.start - b.start),
      );
}

function cutsIn(bytes: Buffer, start: number, { dialect, upstreamModel }: Unsealing, warn: Warn): readonly Edit[] {
  switch (dialect) {
    case "anthropic-messages":
      return unsealMessages(bytes, start, warn);
    case "openai-responses":
      return unsealInput(bytes, start);
    case "gemini":
      return unsealContents(bytes, start, upstreamModel);
    default:
      return [];
  }
}

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
