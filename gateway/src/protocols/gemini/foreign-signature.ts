import { generationOf } from "./model-generation.ts";

/**
 * Gemini 3 refuses a turn whose first call has no signature; this one is the vendor's own for calls that another model
 * made. Source: Gemini API docs, "Thought signatures", FAQ.
 */
export const foreignSignature = "skip_thought_signature_validator";

export function needsSignatures(upstreamModel: string): boolean {
  return (generationOf(upstreamModel) ?? 0) >= 3;
}
