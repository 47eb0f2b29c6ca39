import type { Environment } from "#config/index.ts";
import { believedBeside, type TransportOptions } from "#upstream/index.ts";

/** What the environment says of how this process reaches others, for every client that it makes. */
export function networkOf({
  egress,
  authorities,
  webhookPlaces,
}: Environment): Pick<TransportOptions, "egress" | "authorities" | "webhookPlaces"> {
  return {
    egress,
    webhookPlaces,
    authorities: authorities.length === 0 ? undefined : believedBeside(authorities),
  };
}
