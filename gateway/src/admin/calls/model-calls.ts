import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface ModelCallsHouse {}

/** The calls about models. */
export function modelCalls(
  _house: ModelCallsHouse,
): Handlers<
  | "models.list"
  | "models.create"
  | "models.show"
  | "models.update"
  | "models.remove"
  | "models.prices"
  | "models.simulate"
> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "models.list": missing,
    "models.create": missing,
    "models.show": missing,
    "models.update": missing,
    "models.remove": missing,
    "models.prices": missing,
    "models.simulate": missing,
  };
}
