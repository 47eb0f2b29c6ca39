import { remarkSentence } from "@sluice/contract/words";
import { type Deployment, defaultTimeouts, Failure, type FailureOptions, type Model } from "#core/index.ts";
import type { Observer } from "#ports/index.ts";
import { type CheckDeployment, type Plan, Router, type Selection } from "#routing/index.ts";
import { FakeClock } from "../fake-clock.ts";
import { seededChance } from "./seeded-chance.ts";

export interface RoutingFixture {
  readonly clock: FakeClock;
  readonly router: Router;
  /** The state changes of breakers, in order. */
  readonly changes: readonly { readonly id: string; readonly state: string; readonly atMs: number }[];
}

/** A router on a fake clock with seeded chance. `drawn` is called at each draw. */
export function routingFixture(seed = 1, drawn: () => void = () => undefined, check?: CheckDeployment): RoutingFixture {
  const clock = new FakeClock();
  const changes: { id: string; state: string; atMs: number }[] = [];
  const observer: Observer = {
    log: () => undefined,
    attemptEnd: () => undefined,
    requestEnd: () => undefined,
    breakerChange: (id, state) => changes.push({ id, state, atMs: clock.monotonic() }),
    configReload: () => undefined,
  };
  const seeded = seededChance(seed);
  const chance = {
    unit: () => {
      drawn();
      return seeded.unit();
    },
  };
  return {
    clock,
    changes,
    router: new Router({ clock, chance, observer, ...(check === undefined ? {} : { check }) }),
  };
}

export function deployment(id: string, change: Partial<Deployment> = {}): Deployment {
  const provider = {
    id: `provider-${id}`,
    kind: "openai",
    baseUrl: "https://upstream.test/v1",
    secret: null,
    allowPrivateNetwork: false,
    timeouts: defaultTimeouts,
    disconnect: "cancel",
    settings: {},
    enabled: true,
  } as const;
  return { id, provider, upstreamModel: "up", priority: 1, weight: 100, enabled: true, contextWindow: null, ...change };
}

export function model(name: string, deployments: readonly Deployment[]): Model {
  return {
    name,
    type: "chat",
    ownedBy: "test",
    createdAt: 0,
    deployments,
    fallbacks: [],
    price: null,
    contextWindow: null,
  };
}

/** A failure of an unhealthy deployment, like a 500. */
export const unhealthy = (options: FailureOptions = {}): Failure =>
  new Failure("upstream_error", "500", { retry: "same", unhealthy: true, arrival: "refused", ...options });

/** A failure for an account at its limit, like a 429 with Retry-After. */
export const busy = (retryAfterMs: number): Failure =>
  new Failure("upstream_error", "429", { retry: "same", retryAfterMs, cools: "now", arrival: "refused" });

/** The same failure without Retry-After. */
export const limited = (): Failure => busy(0);

export function take(plan: Plan, after: Failure | null = null): Selection {
  const selection = plan.next(after);
  if (selection === null) throw new Error("the plan has no more steps");
  return selection;
}

/** Ends the selection with the failure, like the relay does, and returns the next one. */
export function failWith(plan: Plan, selection: Selection, failure: Failure): Selection | null {
  selection.end(failure, 1);
  return plan.next(failure);
}

export function walkOf(plan: Plan): readonly string[] {
  return plan.explain().steps.map((step) => remarkSentence("step", step));
}

/** Opens the breaker of each deployment of the model with five failures. */
export function breakAll(fixture: RoutingFixture, failing: Model): void {
  for (const one of failing.deployments) {
    for (let failures = 0; failures < 5; failures++) take(fixture.router.plan([model("m", [one])])).end(unhealthy(), 1);
  }
}
