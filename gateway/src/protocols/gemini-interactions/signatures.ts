import type { Seal } from "#core/index.ts";
import { readSignature } from "../gemini/encodings.ts";
import { sealText } from "../turn/seal-text.ts";

/** A seal as `signature`. It must be base64, so another vendor's seal is encoded again. */
export function writeStepSignature(seal: Seal, redacted = false): string {
  if (seal.dialect === "gemini-interactions" && !redacted) return seal.data;
  return Buffer.from((redacted ? "redacted:" : "") + sealText(seal), "utf8").toString("base64");
}

/** Reads a `signature`. Signatures that are not ours are Google's own, from an unknown account. */
export function readStepSignature(signature: string): { readonly seal: Seal; readonly redacted: boolean } {
  const read = readSignature(signature);
  const isGoogles = read.seal.dialect === "gemini" && read.seal.data === signature;
  return isGoogles ? { ...read, seal: { ...read.seal, dialect: "gemini-interactions" } } : read;
}
