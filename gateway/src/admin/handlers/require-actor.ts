import { type Actor, Failure } from "#core/index.ts";

/** The actor of a call that is not public: there always is one. */
export function requireActor(actor: Actor | null): Actor {
  if (actor === null) throw new Failure("not_signed_in", "Sign in first.");
  return actor;
}
