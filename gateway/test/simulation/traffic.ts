import type { Failure, Model } from "#core/index.ts";
import type { Chance } from "#ports/index.ts";
import type { Plan, Selection } from "#routing/index.ts";
import type { RoutingGround } from "./routing-ground.ts";

/** What an upstream does with one attempt: how long it takes, and the failure, or null when it answers. */
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
  /** Told when a call is over. */
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

/** Sends calls at random moments and walks each along its plan, as the relay does, until all have ended. */
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

  #step(plan: Plan, pick: Selection | null): void {
    if (pick === null) {
      this.#options.ended?.(false);
      return;
    }
    this.#options.ground.clock.after(pick.waitMs, () => this.#send(plan, pick));
  }

  #send(plan: Plan, pick: Selection): void {
    const { clock } = this.#options.ground;
    const { latencyMs, failure } = this.#options.upstream(pick.deployment.id, clock.monotonic());
    const atMs = clock.monotonic();
    this.hits.push({ deploymentId: pick.deployment.id, atMs, endMs: atMs + latencyMs, failed: failure !== null });
    clock.after(latencyMs, () => {
      pick.end(failure ?? "ok", latencyMs);
      if (failure !== null) {
        this.#step(plan, plan.next(failure));
        return;
      }
      this.succeeded++;
      this.#options.ended?.(true);
    });
  }
}
