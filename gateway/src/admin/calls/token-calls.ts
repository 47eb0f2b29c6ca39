import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface TokenCallsHouse {}

/** The calls about admin tokens. */
export function tokenCalls(_house: TokenCallsHouse): Handlers<"tokens.list" | "tokens.create" | "tokens.revoke"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "tokens.list": missing,
    "tokens.create": missing,
    "tokens.revoke": missing,
  };
}
