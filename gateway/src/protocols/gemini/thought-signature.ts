import type { Seal } from "#core/index.ts";
import { readSealText, sealMark, sealText } from "../turn/seal-text.ts";

/** A seal as it is found in a `thoughtSignature`, and whether it is that of thoughts whose text the vendor hides. */
export interface ReadSignature {
  readonly seal: Seal;
  readonly redacted: boolean;
}

/**
 * A seal in the one field that Gemini has for such things. A `thoughtSignature` is base64: the vendor's own goes as it
 * is, another's as base64 of its carried form, so that clients that decode and encode it keep it whole.
 */
export function writeSignature(seal: Seal, redacted = false): string {
  if (seal.dialect === "gemini" && !redacted) return seal.data;
  const text = (redacted ? redactedMark : "") + sealText(seal);
  return Buffer.from(text, "utf8").toString("base64");
}

/** One that is not ours is the vendor's own, from an account we do not know. */
export function readSignature(signature: string): ReadSignature {
  const carried = readCarried(signature);
  if (carried !== null) return carried;
  return { seal: { dialect: "gemini", account: null, itemId: null, data: signature }, redacted: false };
}

/** Whether a signature is another vendor's seal in its carried form, whole or not. */
export function isCarried(signature: string): boolean {
  if (!openings.some((opening) => signature.startsWith(opening))) return false;
  const text = Buffer.from(signature, "base64").toString("utf8");
  return text.startsWith(sealMark) || text.startsWith(redactedMark + sealMark);
}

const redactedMark = "redacted:";
/** How base64 of either mark begins, so that the vendor's own signatures are not decoded for nothing. */
const openings = [sealMark, redactedMark].map((mark) => {
  const whole = mark.length - (mark.length % 3);
  return Buffer.from(mark.slice(0, whole), "utf8").toString("base64");
});

function readCarried(signature: string): ReadSignature | null {
  if (!openings.some((opening) => signature.startsWith(opening))) return null;
  const text = Buffer.from(signature, "base64").toString("utf8");
  const redacted = text.startsWith(redactedMark);
  const seal = readSealText(redacted ? text.slice(redactedMark.length) : text);
  return seal === null ? null : { seal, redacted };
}

/**
 * Gemini 3 refuses a turn whose first call has no signature; this one is the vendor's own for calls that another model
 * made. Source: Gemini API docs, "Thought signatures", FAQ.
 */
export const foreignSignature = "skip_thought_signature_validator";

export function needsSignatures(upstreamModel: string): boolean {
  return (generationOf(upstreamModel) ?? 0) >= 3;
}

/** The generation in a Gemini model's name (2.5 of `gemini-2.5-pro`); null for other names. */
export function generationOf(model: string): number | null {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model);
  return found === null ? null : Number(found[1]);
}
