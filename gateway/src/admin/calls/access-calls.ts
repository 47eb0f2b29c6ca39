import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface AccessCallsHouse {}

/** The calls about effective access. */
export function accessCalls(_house: AccessCallsHouse): Handlers<"access.table" | "access.check"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "access.table": missing,
    "access.check": missing,
  };
}
