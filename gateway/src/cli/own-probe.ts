import type { Environment } from "#config/index.ts";
import type { ConfigSnapshot } from "#core/index.ts";
import { networkOf } from "#main/control.ts";
import { openDemoUpstream } from "#main/demo-upstream.ts";
import type { Clock } from "#ports/index.ts";
import { ProviderClient, ProviderProbe, SecretReferences } from "#provider-client/index.ts";
import { createTransport } from "#upstream/index.ts";

/** A probe for commands, with its own demo, and the configuration with the secrets of references. */
export function ownProbe(clock: Clock, environment: Environment) {
  const inProcess = new Map([["simulator", openDemoUpstream().fetch]]);
  const transport = createTransport({ clock, ...networkOf(environment), inProcess });
  const { workload } = environment;
  const references = new SecretReferences({ transport, clock, workload });
  return {
    probe: new ProviderProbe(new ProviderClient(transport, clock, workload), clock),
    withSecrets: (configSnapshot: ConfigSnapshot) => references.resolve(configSnapshot),
  };
}
