import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface SessionCallsHouse {}

/** The calls about session. */
export function sessionCalls(_house: SessionCallsHouse): Handlers<"session.show"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "session.show": missing,
  };
}
