import { createMemoryHealthBoard } from "#coordination/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { type ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { providerKind } from "#providers/index.ts";
import { Router } from "#routing/index.ts";
import { systemChance } from "#system/index.ts";

export interface OpenRouterOptions {
  readonly providerClient: ProviderClient;
  readonly clock: Clock;
  readonly observer: Observer;
}

/** The router of this process. An account that was down is asked for its models before a call probes it. */
export function openRouter({ providerClient, clock, observer }: OpenRouterOptions): Router {
  const probe = new ProviderProbe(providerClient, clock);
  return new Router({
    ...{ board: createMemoryHealthBoard(clock), clock, chance: systemChance, observer },
    check({ provider }, signal) {
      const kind = providerKind(provider.kind);
      return kind === null ? null : probe.isReached(provider, kind, signal);
    },
  });
}
