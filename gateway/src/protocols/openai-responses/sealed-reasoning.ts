import type { Seal } from "#core/index.ts";
import { readSealText, sealFrom, sealMark, sealText } from "../seal-text.ts";

/**
 * What a sealed text is beside the thoughts it seals: `redacted` thoughts have no text by their vendor's will;
 * `call` seals the tool call before it, for which this dialect has no field.
 */
export type SealNote = "redacted" | "call" | null;

/** A seal as `encrypted_content`. The note stands behind a point, which base64url does not use. */
export function writeSealed(seal: Seal, note: SealNote): string {
  if (seal.dialect === "openai-responses" && note === null) return seal.data;
  return note === null ? sealText(seal) : `${sealText(seal)}.${note}`;
}

export function readSealed(text: string, itemId: string | null): { readonly seal: Seal; readonly note: SealNote } {
  const point = text.startsWith(sealMark) ? text.indexOf(".", sealMark.length) : -1;
  const word = point === -1 ? "" : text.slice(point + 1);
  const note = word === "redacted" || word === "call" ? word : null;
  const seal = note === null ? null : readSealText(text.slice(0, point));
  return seal === null ? { seal: sealFrom(text, "openai-responses", itemId), note: null } : { seal, note };
}
