import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface LimitCallsHouse {}

/** The calls about limits. */
export function limitCalls(_house: LimitCallsHouse): Handlers<"limits.list"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "limits.list": missing,
  };
}
