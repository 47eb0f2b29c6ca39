import type { Environment } from "#config/index.ts";
import { believedBeside, type TransportOptions } from "#upstream/index.ts";

/** What the environment says of how this process reaches others, for every client that it makes. */
export function networkOf({
  http,
  egress,
  authorities,
  webhookPlaces,
}: Environment): Pick<TransportOptions, "http" | "egress" | "authorities" | "webhookPlaces"> {
  return {
    http,
    egress,
    webhookPlaces,
    authorities: authorities.length === 0 ? undefined : believedBeside(authorities),
  };
}
