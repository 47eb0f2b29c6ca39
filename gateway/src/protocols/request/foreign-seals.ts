import type { WireDialectId } from "#core/index.ts";
import { sealCutsInMessages } from "../anthropic-messages/foreign-seals.ts";
import type { Warn } from "../codec.ts";
import { foreignSealPrefixes } from "../gemini/encodings.ts";
import { sealCutsInContents } from "../gemini/foreign-seals.ts";
import { sealCutsInSteps } from "../gemini-interactions/foreign-seals.ts";
import { asBuffer, type Edit, splice } from "../json/bytes.ts";
import { skipSpace } from "../json/cursor.ts";
import { JsonNode } from "../json/node.ts";
import { sealCutsInInput } from "../openai-responses/foreign-seals.ts";
import { sealMark } from "../turn/seal-text.ts";

/**
 * Removes what other vendors sealed in earlier turns, since this upstream could not read it and would refuse the request. Other bytes
 * stay. The grammar must have been checked.
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
  else if (dialect === "gemini-interactions") cuts = sealCutsInSteps(root);
  else if (dialect === "gemini") cuts = sealCutsInContents(root, upstreamModel);
  if (cuts.length === 0) return body;
  return splice(
    body,
    cuts.toSorted((a, b) => a.start - b.start),
  );
}

/** A quick search of the bytes. Texts about seals give false positives, which `removeForeignSeals` leaves alone. */
export function mayHoldForeignSeals(body: Uint8Array, dialect: WireDialectId): boolean {
  const wanted = marks[dialect];
  if (wanted === undefined) return false;
  const bytes = asBuffer(body);
  return wanted.some((mark) => bytes.includes(mark));
}

/** Letters and digits, which no serializer escapes. */
const plainMarks = [Buffer.from(`"${sealMark.replace(/\W+$/, "")}`)];

const encodedMarks = foreignSealPrefixes.map((opening) => Buffer.from(`"${opening}`));

/** Dialects with a field for a seal. */
const marks: Partial<Record<WireDialectId, readonly Buffer[]>> = {
  "anthropic-messages": plainMarks,
  "openai-responses": plainMarks,
  gemini: encodedMarks,
  "gemini-interactions": encodedMarks,
};
