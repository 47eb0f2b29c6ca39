import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface RequestCallsHouse {}

/** The calls about requests. */
export function requestCalls(_house: RequestCallsHouse): Handlers<"requests.list" | "requests.show"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "requests.list": missing,
    "requests.show": missing,
  };
}
