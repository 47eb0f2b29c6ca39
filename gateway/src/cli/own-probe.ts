import { openDemoUpstream } from "#main/demo-upstream.ts";
import type { Clock } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { createTransport } from "#upstream/index.ts";

/** A probe for a command that runs beside the gateway, with a demo of its own. */
export function ownProbe(clock: Clock): ProviderProbe {
  const transport = createTransport({ clock, inProcess: new Map([["simulator", openDemoUpstream().fetch]]) });
  return new ProviderProbe(new ProviderClient(transport, clock), clock);
}
