import { bounds } from "#core/index.ts";
import { holdsSeals, patchedRequest, unsealBody } from "#protocols/index.ts";
import type { Selection as Selected } from "#routing/index.ts";
import { madeBy, workOnCall } from "../attempt/work-on-call.ts";
import type { Call } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import type { Warnings } from "./translator.ts";

/**
 * Whether a body may hold what one of our translations sealed: an earlier turn of its conversation was answered by another
 * vendor. An upstream of the caller's own dialect could not read the seal, so it gets the body without it.
 */
export function bearsSeals({
  body,
  protocol,
  marks,
}: Pick<Call, "body" | "protocol"> & Partial<Pick<Call, "marks">>): boolean {
  if (!(body instanceof Uint8Array)) return false;
  return marks?.seals ?? holdsSeals(body, protocol.wireDialect);
}

/** The caller's bytes for an upstream of its own dialect, without the seals. In a thread where they are many. */
export function unsealedBody(
  dependencies: RelayDependencies,
  { call, selection, warnings }: { readonly call: Call; readonly selection: Selected; readonly warnings: Warnings },
  body: Uint8Array,
): Uint8Array | Promise<Uint8Array> {
  const { facts, protocol } = call;
  const { endpoint, wireDialect: dialect, wire } = protocol;
  const { upstreamModel } = selection.deployment;
  if (body.length <= bounds.unsealInPlaceBytesMax) {
    const warn = (what: string): void => void warnings.add(what);
    return unsealBody(patchedRequest(wire, body, facts, upstreamModel), { dialect, upstreamModel }, warn);
  }
  return workOnCall(dependencies.bodies, call, "unseal", { endpoint, dialect, facts, upstreamModel }).then((done) => {
    for (const what of done.answer) warnings.add(what);
    return madeBy(done);
  });
}
