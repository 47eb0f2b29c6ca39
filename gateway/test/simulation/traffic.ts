import type { Failure, Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { Plan, Selection } from "#routing/index.ts";
import type { RoutingGround } from "./routing-ground.ts";

/** How an upstream handles one attempt: its latency, and a failure or null for an answer. */
export type Upstream = (
  deploymentId: string,
  atMs: number,
) => { readonly latencyMs: number; readonly failure: Failure | null };

export interface TrafficOptions {
  readonly ground: RoutingGround;
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
  const { ground, chance, callsPerSecond, seconds } = options;
  const traffic = new Traffic(options);
  const calls = callsPerSecond * seconds;
  for (let call = 0; call < calls; call++) {
    ground.clock.advance((2_000 / callsPerSecond) * chance.unit());
    traffic.begin();
  }
  while (ground.clock.pending > 0) ground.clock.advance(1_000);
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
    const plan = this.#options.ground.router.plan(this.#options.models);
    this.#step(plan, plan.next(null));
  }

  #step(plan: Plan, selection: Selection | null): void {
    if (selection === null) {
      this.#options.ended?.(false);
      return;
    }
    this.#options.ground.clock.after(selection.waitMs, () => this.#send(plan, selection));
  }

  #send(plan: Plan, selection: Selection): void {
    const { clock } = this.#options.ground;
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
