import type { WireDialectId } from "#core/index.ts";
import { sealCutsInMessages } from "../anthropic-messages/foreign-seals.ts";
import type { Warn } from "../codec.ts";
import { foreignSealPrefixes } from "../gemini/encodings.ts";
import { sealCutsInContents } from "../gemini/foreign-seals.ts";
import { asBuffer, type Edit, splice } from "../json/bytes.ts";
import { skipSpace } from "../json/cursor.ts";
import { JsonNode } from "../json/node.ts";
import { sealCutsInInput } from "../openai-responses/foreign-seals.ts";
import { sealMark } from "../turn/seal-text.ts";

/**
 * A body without what other vendors sealed in an earlier turn of its conversation: its upstream, whose dialect it is, could not read
 * it, and would refuse the whole. Every other byte stays as it is. For bodies whose grammar was checked.
 */
export function removeForeignSeals(
  body: Uint8Array,
  { dialect, upstreamModel }: { readonly dialect: WireDialectId; readonly upstreamModel: string },
  warn: Warn,
): Uint8Array {
  const bytes = asBuffer(body);
  const root = new JsonNode(bytes, skipSpace(bytes, 0), bytes.length);
  let cuts: readonly Edit[] = [];
  if (dialect === "anthropic-messages") cuts = sealCutsInMessages(root, warn);
  else if (dialect === "openai-responses") cuts = sealCutsInInput(root);
  else if (dialect === "gemini") cuts = sealCutsInContents(root, upstreamModel);
  if (cuts.length === 0) return body;
  return splice(
    body,
    cuts.toSorted((a, b) => a.start - b.start),
  );
}

/**
 * Whether a body of this dialect may hold what one of our translations sealed. Only looked for in the bytes, since almost
 * no body does: a text that speaks of seals is taken for one here, and left alone by whoever looks closer.
 */
export function mayHoldForeignSeals(body: Uint8Array, dialect: WireDialectId): boolean {
  const looked = marks[dialect];
  if (looked === undefined) return false;
  const bytes = asBuffer(body);
  return looked.some((mark) => bytes.includes(mark));
}

/** How the string begins: letters and digits, which no serialiser escapes. Whoever does so hides a seal from nobody but its vendor. */
const plainMarks = [Buffer.from(`"${sealMark.replace(/\W+$/, "")}`)];

/** By the dialects that have a field for a seal. */
const marks: Partial<Record<WireDialectId, readonly Buffer[]>> = {
  "anthropic-messages": plainMarks,
  "openai-responses": plainMarks,
  gemini: foreignSealPrefixes.map((opening) => Buffer.from(`"${opening}`)),
};
