import { openDemoUpstream } from "#main/demo-upstream.ts";
import type { Clock } from "#ports/index.ts";
import { ProviderProbe } from "#relay/index.ts";
import { createTransport } from "#upstream/index.ts";

/** A probe for a command that runs beside the gateway, with a demo of its own. */
export function ownProbe(clock: Clock): ProviderProbe {
  const transport = createTransport({ clock, inProcess: new Map([["simulator", openDemoUpstream().fetch]]) });
  return new ProviderProbe(transport, clock);
}
