import type { Seal, ToolCallPart, TurnMessage } from "#core/index.ts";
import { readSealText, sealText } from "../turn/seal-text.ts";

/**
 * Anthropic's tool_use has no place for a seal, and Gemini refuses a call that comes back without its own. It travels
 * as the signature of an empty thinking block, which clients keep and send back, and names its call.
 */
export function callSealText(seal: Seal, callId: string): string {
  return sealText({ ...seal, itemId: itemMark + callId });
}

/** The seal of a call in the signature of a thinking block; null when it is a thought's own. */
export function readCallSeal(signature: string): { readonly callId: string; readonly seal: Seal } | null {
  const seal = readSealText(signature);
  const itemId = seal?.itemId ?? null;
  if (seal === null || itemId === null || !itemId.startsWith(itemMark)) return null;
  return { callId: itemId.slice(itemMark.length), seal: { ...seal, itemId: null } };
}

/** The conversation with each call that a seal was found for sealed again. */
export function withCallSeals(messages: TurnMessage[], seals: ReadonlyMap<string, Seal>): readonly TurnMessage[] {
  if (seals.size === 0) return messages;
  const sealed = (part: ToolCallPart): ToolCallPart => ({ ...part, seal: seals.get(part.id) ?? null });
  return messages.map(({ role, parts }) => ({
    role,
    parts: parts.map((part) => (part.kind === "tool-call" ? sealed(part) : part)),
  }));
}

const itemMark = "tool-call ";
