import { Failure } from "#core/index.ts";
import type { Handlers } from "./handler.ts";

// biome-ignore lint/suspicious/noEmptyInterface: filled by whoever writes these calls.
export interface ProviderCallsHouse {}

/** The calls about providers. */
export function providerCalls(
  _house: ProviderCallsHouse,
): Handlers<
  | "providers.kinds"
  | "providers.list"
  | "providers.create"
  | "providers.show"
  | "providers.update"
  | "providers.remove"
  | "providers.test"
  | "providers.upstreamModels"
  | "providers.import"
> {
  const missing = () => {
    throw new Failure("not_found", "This call is not there yet.");
  };
  return {
    "providers.kinds": missing,
    "providers.list": missing,
    "providers.create": missing,
    "providers.show": missing,
    "providers.update": missing,
    "providers.remove": missing,
    "providers.test": missing,
    "providers.upstreamModels": missing,
    "providers.import": missing,
  };
}
