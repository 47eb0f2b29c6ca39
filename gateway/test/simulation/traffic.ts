import type { Failure, Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { Plan, Selection } from "#routing/index.ts";
import type { RoutingFixture } from "./routing-fixture.ts";

/** How an upstream handles one attempt: its latency, and a failure or null for an answer. */
export type Upstream = (
  deploymentId: string,
  atMs: number,
) => { readonly latencyMs: number; readonly failure: Failure | null };

export interface TrafficOptions {
  readonly fixture: RoutingFixture;
  readonly models: readonly Model[];
  readonly upstream: Upstream;
  readonly chance: Chance;
  readonly callsPerSecond: number;
  readonly seconds: number;
  /** Called when a call has ended. */
  readonly ended?: (succeeded: boolean) => void;
}

interface Hit {
  readonly deploymentId: string;
  readonly atMs: number;
  readonly endMs: number;
  readonly failed: boolean;
}

export interface TrafficReport {
  readonly calls: number;
  readonly succeeded: number;
  readonly hits: readonly Hit[];
}

/** Sends calls at random times and follows each call's plan, as the relay does, until all have ended. */
export function runTraffic(options: TrafficOptions): TrafficReport {
  const { fixture, chance, callsPerSecond, seconds } = options;
  const traffic = new Traffic(options);
  const calls = callsPerSecond * seconds;
  for (let call = 0; call < calls; call++) {
    fixture.clock.advance((2_000 / callsPerSecond) * chance.unit());
    traffic.begin();
  }
  while (fixture.clock.pending > 0) fixture.clock.advance(1_000);
  return { calls, succeeded: traffic.succeeded, hits: traffic.hits };
}

class Traffic {
  succeeded = 0;
  readonly hits: Hit[] = [];
  readonly #options: TrafficOptions;

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  begin(): void {
    const plan = this.#options.fixture.router.plan(this.#options.models);
    this.#step(plan, plan.next(null));
  }

  #step(plan: Plan, selection: Selection | null): void {
    if (selection === null) {
      this.#options.ended?.(false);
      return;
    }
    this.#options.fixture.clock.after(selection.waitMs, () => this.#send(plan, selection));
  }

  #send(plan: Plan, selection: Selection): void {
    const { clock } = this.#options.fixture;
    const { latencyMs, failure } = this.#options.upstream(selection.deployment.id, clock.monotonic());
    const atMs = clock.monotonic();
    this.hits.push({ deploymentId: selection.deployment.id, atMs, endMs: atMs + latencyMs, failed: failure !== null });
    clock.after(latencyMs, () => {
      selection.end(failure ?? "ok", latencyMs);
      if (failure !== null) {
        this.#step(plan, plan.next(failure));
        return;
      }
      this.succeeded++;
      this.#options.ended?.(true);
    });
  }
}
