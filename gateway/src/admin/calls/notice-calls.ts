import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface NoticeCallsHouse {}

/** The calls about notices. */
export function noticeCalls(
  _house: NoticeCallsHouse,
): Handlers<"notices.list" | "notices.create" | "notices.update" | "notices.remove" | "notices.test"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "notices.list": missing,
    "notices.create": missing,
    "notices.update": missing,
    "notices.remove": missing,
    "notices.test": missing,
  };
}
