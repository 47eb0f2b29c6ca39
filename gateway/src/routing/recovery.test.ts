import { describe, expect, test } from "bun:test";
import {
  breakAll,
  deployment,
  failWith,
  model,
  type RoutingFixture,
  routingFixture,
  take,
  unhealthy,
} from "../../test/simulation/routing-fixture.ts";

const shared = model("m", [deployment("a"), deployment("b", { priority: 2 })]);
const broken = model("m", shared.deployments.slice(0, 1));

/** How many of a hundred calls begin at `a`. */
function beginAtA({ router }: RoutingFixture): number {
  let begun = 0;
  for (let call = 0; call < 100; call++) {
    const selection = take(router.plan([shared]));
    if (selection.deployment.id === "a") begun++;
    selection.end("cancelled", 0);
  }
  return begun;
}

/** A deployment that was down until a call closed its breaker. */
function recovering(): RoutingFixture {
  const fixture = routingFixture(3);
  breakAll(fixture, broken);
  fixture.clock.advance(30_000);
  take(fixture.router.plan([shared])).end("ok", 1);
  return fixture;
}

describe("a deployment whose breaker has closed", () => {
  test("gets its calls back in steps, even if it is preferred", () => {
    const fixture = recovering();
    const shares: number[] = [];
    for (let step = 0; step < 6; step++) {
      shares.push(beginAtA(fixture));
      fixture.clock.advance(6_000);
    }
    for (const [step, expected] of [10, 20, 40, 60, 80, 100].entries()) {
      expect([step, Math.abs((shares[step] ?? 0) - expected) <= 15]).toEqual([step, true]);
    }
    expect(shares.at(-1)).toBe(100);
  });

  test("is tried by other calls if nothing else is left, and explains its position", () => {
    const { router } = recovering();
    const plans = Array.from({ length: 20 }, () => router.plan([shared]));
    for (const plan of plans) {
      const first = take(plan);
      const second = failWith(plan, first, unhealthy({ retry: "other", unhealthy: false }));
      expect([first.deployment.id, second?.deployment.id].toSorted()).toEqual(["a", "b"]);
      second?.end("cancelled", 0);
    }
    const remarks = plans.flatMap((plan) => plan.explain().places.flatMap((place) => place.remarks));
    expect(remarks).toContainEqual({ code: "recovering", params: { percent: 10 } });
  });

  test("keeps each conversation that has come back", () => {
    const { router, clock } = recovering();
    const equals = model("m", [deployment("a"), deployment("b")]);
    const at = (session: number): string => {
      const selection = take(router.plan([equals], { affinity: `session-${session}` }));
      selection.end("cancelled", 0);
      return selection.deployment.id;
    };
    const sessions = Array.from({ length: 200 }, (_, session) => session);
    let back: readonly number[] = [];
    for (let step = 0; step < 6; step++) {
      const now = sessions.filter((session) => at(session) === "a");
      expect(back.filter((session) => !now.includes(session))).toEqual([]);
      back = now;
      clock.advance(6_000);
    }
    expect(back.length).toBeGreaterThan(70);
  });
});

describe("a deployment after its timeout, with an account that can be checked", () => {
  test("gets no call before the check; one call probes it then, and closes its breaker", async () => {
    const asked: string[] = [];
    const answer = Promise.withResolvers<boolean>();
    const fixture = routingFixture(1, undefined, ({ id }) => {
      asked.push(id);
      return answer.promise;
    });
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    expect([beginAtA(fixture), asked]).toEqual([0, ["a"]]);
    answer.resolve(true);
    await answer.promise;
    const probing = take(fixture.router.plan([shared]));
    expect(probing.deployment.id).toBe("a");
    expect(beginAtA(fixture)).toBe(0);
    probing.end("ok", 1);
    expect(fixture.changes.map(({ state }) => state)).toEqual(["open", "half-open", "closed"]);
    expect(fixture.clock.pending).toBe(0);
  });

  test("stays out for twice as long when the check fails, at no caller's cost", async () => {
    const fixture = routingFixture(1, undefined, async () => false);
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    expect(beginAtA(fixture)).toBe(0);
    await Promise.resolve();
    expect(fixture.router.states()[0]).toMatchObject({ breaker: "open", coolingMs: 60_000 });
  });

  test("ends a check after 10 s", async () => {
    const fixture = routingFixture(1, undefined, (_, signal) => {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      signal.addEventListener("abort", () => resolve(false));
      return promise;
    });
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    expect(beginAtA(fixture)).toBe(0);
    fixture.clock.advance(10_000);
    await Promise.resolve();
    expect(fixture.router.states()[0]?.breaker).toBe("open");
  });

  test("is probed by a call after a check that failed, so that a broken list of models does not keep it out", async () => {
    let checks = 0;
    const fixture = routingFixture(1, undefined, async () => {
      checks++;
      return false;
    });
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    expect(beginAtA(fixture)).toBe(0);
    await Promise.resolve();
    fixture.clock.advance(60_000);
    const probing = take(fixture.router.plan([shared]));
    expect([probing.deployment.id, checks]).toEqual(["a", 1]);
    // It is checked again before the next call.
    probing.end(unhealthy(), 1);
    fixture.clock.advance(120_000);
    expect([beginAtA(fixture), checks]).toEqual([0, 2]);
  });

  test("is called if it is the last one", () => {
    const fixture = routingFixture(1, undefined, () => new Promise(() => undefined));
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    take(fixture.router.plan([broken])).end("ok", 1);
    expect(fixture.router.states()[0]?.breaker).toBe("closed");
  });

  test("is probed by a call if its provider type has no check", () => {
    const fixture = routingFixture(1, undefined, () => null);
    breakAll(fixture, broken);
    fixture.clock.advance(30_000);
    expect(take(fixture.router.plan([shared])).deployment.id).toBe("a");
  });
});

describe("among equals", () => {
  const equals = model("m", [deployment("a", { weight: 300 }), deployment("b", { weight: 100 })]);
  const shareOfA = (router: RoutingFixture["router"], calls: number, latencyOf: (id: string) => number): number => {
    let first = 0;
    for (let call = 0; call < calls; call++) {
      const selection = take(router.plan([equals]));
      if (selection.deployment.id === "a") first++;
      selection.end("ok", latencyOf(selection.deployment.id));
    }
    return first / calls;
  };

  test("calls follow the weights while all are idle and equally fast", () => {
    const { router } = routingFixture(5);
    expect(shareOfA(router, 8_000, () => 100)).toBeCloseTo(0.75, 1);
  });

  test("a clearly slower one gets less, until it is as fast again", () => {
    const { router } = routingFixture(6);
    shareOfA(router, 500, (id) => (id === "a" ? 900 : 100));
    expect(shareOfA(router, 2_000, (id) => (id === "a" ? 900 : 100))).toBeLessThan(0.62);
    shareOfA(router, 500, () => 100);
    expect(shareOfA(router, 8_000, () => 100)).toBeCloseTo(0.75, 1);
  });

  test("calls in flight stay near the weights, and one that is stuck gets no more", () => {
    const { router } = routingFixture(7);
    const held = Array.from({ length: 400 }, () => take(router.plan([equals])));
    const at = (id: string) => held.filter(({ deployment: each }) => each.id === id).length;
    expect(at("a") / 400).toBeCloseTo(0.75, 1);
    for (const selection of held) if (selection.deployment.id === "b") selection.end("ok", 10);
    const stuck = at("a");
    const later = Array.from({ length: 100 }, () => {
      const selection = take(router.plan([equals]));
      selection.end("ok", 10);
      return selection.deployment.id;
    });
    expect(stuck).toBeGreaterThan(250);
    expect(later.filter((id) => id === "b").length).toBeGreaterThan(30);
  });
});
