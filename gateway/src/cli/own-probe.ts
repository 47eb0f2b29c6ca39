import { createSimulator } from "@sluice/simulator";
import type { Clock } from "#ports/index.ts";
import { ProviderProbe } from "#relay/index.ts";
import { createTransport } from "#upstream/index.ts";

/** A probe for a command that runs beside the gateway, with a demo of its own. */
export function ownProbe(clock: Clock): ProviderProbe {
  const simulator = createSimulator({ obeysRequests: false, truthRecordsMax: 1 });
  const transport = createTransport({
    clock,
    inProcess: new Map([["simulator", (request) => simulator.fetch(request)]]),
  });
  return new ProviderProbe(transport, clock);
}
