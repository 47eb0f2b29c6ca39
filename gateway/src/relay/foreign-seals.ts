import { holdsSeals } from "#protocols/index.ts";
import type { Call } from "./call.ts";

/**
 * A body that holds what one of our translations sealed must not reach an upstream as it is, not even one of the
 * caller's own dialect: it could not read the seal. Such a call goes through the neutral form, which leaves it out.
 * Looked for in the bytes: a JSON string that is such a seal and nothing else. A text that speaks of one is none.
 */
export function bearsSeals({
  body,
  speech,
  seals,
}: Pick<Call, "body" | "speech"> & Partial<Pick<Call, "seals">>): boolean {
  if (speech.codec === null || !(body instanceof Uint8Array)) return false;
  return seals ?? holdsSeals(body);
}
