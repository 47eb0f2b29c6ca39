import { createdId, createdObject } from "./answer.ts";

/** The task that a callback's body names under `member`; null when it names none. Anybody may have sent it. */
export function callbackId(body: Uint8Array, member: string): { readonly upstreamId: string } | null {
  try {
    return createdId(createdObject({ status: 200, headers: new Headers(), body })[member]);
  } catch {
    return null;
  }
}
