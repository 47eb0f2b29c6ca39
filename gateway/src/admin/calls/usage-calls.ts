import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface UsageCallsHouse {}

/** The calls about usage. */
export function usageCalls(_house: UsageCallsHouse): Handlers<"usage.series"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "usage.series": missing,
  };
}
