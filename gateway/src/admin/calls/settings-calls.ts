import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface SettingsCallsHouse {}

/** The calls about settings. */
export function settingsCalls(
  _house: SettingsCallsHouse,
): Handlers<"settings.show" | "settings.update" | "settings.putOidc" | "settings.removeOidc"> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "settings.show": missing,
    "settings.update": missing,
    "settings.putOidc": missing,
    "settings.removeOidc": missing,
  };
}
