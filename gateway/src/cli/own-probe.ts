import type { Environment } from "#config/index.ts";
import { networkOf } from "#main/control.ts";
import { openDemoUpstream } from "#main/demo-upstream.ts";
import type { Clock } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { createTransport } from "#upstream/index.ts";

/** A probe for commands, with its own demo. */
export function ownProbe(clock: Clock, environment: Environment): ProviderProbe {
  const inProcess = new Map([["simulator", openDemoUpstream().fetch]]);
  const transport = createTransport({ clock, ...networkOf(environment), inProcess });
  return new ProviderProbe(new ProviderClient(transport, clock, environment.workload), clock);
}
