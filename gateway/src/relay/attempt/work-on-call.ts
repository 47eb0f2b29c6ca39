import { type BodyAsk, type BodyJobKind, type BodyOutcome, type BodyWork, outcomeOf } from "#bodies/index.ts";
import { asFailure } from "#core/index.ts";
import type { Call } from "../call.ts";

/**
 * Has a job done on the body of a call, which has it again afterwards, whatever came of it: another deployment may be tried
 * with it. Where no thread could do it the body is gone, and so is the call.
 */
export async function workOnCall<Kind extends BodyJobKind>(
  work: BodyWork,
  call: Call,
  kind: Kind,
  ask: BodyAsk<Kind>,
  beside: readonly Uint8Array[] = [],
): Promise<BodyOutcome<Kind>> {
  const { body, signal } = call;
  if (!(body instanceof Uint8Array)) throw new Error("a call is worked on after its answer has begun");
  try {
    const done = await work.do(kind, ask, body, { beside, signal });
    // null: it was let go of meanwhile.
    if (call.body !== null) call.body = done.body;
    return outcomeOf(done);
  } catch (thrown) {
    if (call.body instanceof Uint8Array && call.body.length === 0) call.body = null;
    throw asFailure(thrown);
  }
}

/** The bytes that a job was to make. */
export function madeBy({ made }: { readonly made: Uint8Array | null }): Uint8Array {
  if (made === null) throw new Error("a job made nothing");
  return made;
}
