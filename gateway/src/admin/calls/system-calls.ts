import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface SystemCallsHouse {}

/** The calls about the system itself. */
export function systemCalls(_house: SystemCallsHouse): Handlers<"settings.config" | "system.show"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "settings.config": missing,
    "system.show": missing,
  };
}
