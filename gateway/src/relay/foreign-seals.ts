import { bounds } from "#core/index.ts";
import { holdsSeals, patchedRequest, unsealBody } from "#protocols/index.ts";
import type { Pick as Picked } from "#routing/index.ts";
import type { Call } from "./call.ts";
import type { RelayHouse } from "./house.ts";
import type { Warnings } from "./translator.ts";
import { madeBy, workOnCall } from "./work-on-call.ts";

/**
 * Whether a body may hold what one of our translations sealed: an earlier turn of its conversation was answered by another
 * vendor. An upstream of the caller's own dialect could not read the seal, so it gets the body without it.
 */
export function bearsSeals({
  body,
  speech,
  marks,
}: Pick<Call, "body" | "speech"> & Partial<Pick<Call, "marks">>): boolean {
  if (!(body instanceof Uint8Array)) return false;
  return marks?.seals ?? holdsSeals(body, speech.bodies);
}

/** The caller's bytes for an upstream of its own dialect, without the seals. In a thread where they are many. */
export function unsealedBody(
  house: RelayHouse,
  { call, pick, warnings }: { readonly call: Call; readonly pick: Picked; readonly warnings: Warnings },
  body: Uint8Array,
): Uint8Array | Promise<Uint8Array> {
  const { facts, speech } = call;
  const { endpoint, bodies: dialect, wire } = speech;
  const { upstreamModel } = pick.deployment;
  if (body.length <= bounds.unsealInPlaceBytesMax) {
    const warn = (what: string): void => void warnings.add(what);
    return unsealBody(patchedRequest(wire, body, facts, upstreamModel), { dialect, upstreamModel }, warn);
  }
  return workOnCall(house.bodies, call, "unseal", { endpoint, dialect, facts, upstreamModel }).then((done) => {
    for (const what of done.answer) warnings.add(what);
    return madeBy(done);
  });
}
