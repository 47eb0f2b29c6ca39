import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface KeyCallsHouse {}

/** The calls about keys. */
export function keyCalls(
  _house: KeyCallsHouse,
): Handlers<"keys.list" | "keys.create" | "keys.show" | "keys.update" | "keys.rotate" | "keys.revoke"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "keys.list": missing,
    "keys.create": missing,
    "keys.show": missing,
    "keys.update": missing,
    "keys.rotate": missing,
    "keys.revoke": missing,
  };
}
