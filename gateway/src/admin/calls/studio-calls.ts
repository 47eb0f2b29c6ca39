import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface StudioCallsHouse {}

/** The calls about video tasks and assets. */
export function studioCalls(
  _house: StudioCallsHouse,
): Handlers<
  | "tasks.list"
  | "tasks.show"
  | "tasks.cancel"
  | "assetGroups.list"
  | "assetGroups.remove"
  | "assets.list"
  | "assets.remove"
> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "tasks.list": missing,
    "tasks.show": missing,
    "tasks.cancel": missing,
    "assetGroups.list": missing,
    "assetGroups.remove": missing,
    "assets.list": missing,
    "assets.remove": missing,
  };
}
