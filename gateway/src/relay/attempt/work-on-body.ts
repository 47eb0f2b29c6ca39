import { type BodyAsk, type BodyJobKind, type BodyOutcome, type BodyWork, outcomeOf } from "#bodies/index.ts";
import { asFailure } from "#core/index.ts";
import type { Call } from "../call.ts";

/**
 * Has a job done on a body. The call has its own again afterwards, whatever came of it: another deployment may be tried
 * with it. Where no thread could do it that body is gone, and so is the call. `body` of the result: the one that was worked on.
 */
export async function workOnBody<Kind extends BodyJobKind>(
  work: BodyWork,
  call: Call,
  kind: Kind,
  ask: BodyAsk<Kind>,
  { body = call.body, beside = [] }: { readonly body?: Call["body"]; readonly beside?: readonly Uint8Array[] } = {},
): Promise<BodyOutcome<Kind> & { readonly body: Uint8Array }> {
  if (!(body instanceof Uint8Array)) throw new Error("a call is worked on after its answer has begun");
  const isOwn = body === call.body;
  try {
    const done = await work.do(kind, ask, body, { beside, signal: call.signal, owner: call.principal });
    // null: it was released meanwhile.
    if (isOwn && call.body !== null) call.body = done.body;
    return { ...outcomeOf(done), body: done.body };
  } catch (thrown) {
    if (isOwn && call.body instanceof Uint8Array && call.body.length === 0) call.body = null;
    throw asFailure(thrown);
  }
}

/** The bytes that a job was to make. */
export function madeBy({ made }: { readonly made: Uint8Array | null }): Uint8Array {
  if (made === null) throw new Error("a job made nothing");
  return made;
}
