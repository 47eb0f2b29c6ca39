import { BodyWork } from "#bodies/index.ts";
import { createMemoryHealthBoard } from "#coordination/index.ts";
import { createRecorder } from "#ledger/index.ts";
import type { Admission } from "#limits/index.ts";
import type { Chance, Clock, Observer, Offload } from "#ports/index.ts";
import { ProviderClient, ProviderProbe } from "#provider-client/index.ts";
import { providerKind } from "#providers/index.ts";
import { Relay } from "#relay/index.ts";
import { Router } from "#routing/index.ts";

export interface CallParts
  extends Omit<ConstructorParameters<typeof Relay>[0], "router" | "recorder" | "providerClient" | "bodies"> {
  readonly chance: Chance;
  /** By what the times of ledger entries go. */
  readonly steady: Clock;
  /** Threads for large bodies; null: there are none. */
  readonly offload: Offload | null;
  /** Whether an account that was down is asked for its models before a call probes it. */
  readonly probes: boolean;
}

/** Connects what takes a call from its admission to its ledger entry. */
export function wireCalls(parts: CallParts) {
  const { admission, journal, transport, ids, clock, chance, observer, offload } = parts;
  const providerClient = new ProviderClient(transport, clock);
  const probe = new ProviderProbe(providerClient, clock);
  const router = new Router({
    ...{ board: createMemoryHealthBoard(clock), clock, chance, observer },
    ...(parts.probes && {
      check({ provider }, signal) {
        const kind = providerKind(provider.kind);
        return kind === null ? null : probe.isReached(provider, kind, signal);
      },
    }),
  });
  const settled = settledFirst(admission, observer);
  const recorder = createRecorder({ journal, clock: parts.steady, ids, observer: settled });
  const bodies = new BodyWork({ offload, newId: (prefix) => ids.next(prefix) });
  const relay = new Relay({ ...parts, router, recorder, providerClient, bodies });
  return { providerClient, probe, router, recorder, bodies, relay, settled };
}

/** An observer that tells the budgets what each settled entry cost, before anybody else hears of it. */
function settledFirst(admission: Pick<Admission, "settled">, observer: Observer): Observer {
  return {
    ...observer,
    attemptEnd: (entry, fault) => {
      admission.settled(entry);
      observer.attemptEnd(entry, fault);
    },
  };
}
