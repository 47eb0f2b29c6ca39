import { describe, expect, test } from "bun:test";
import { bounds, Failure } from "#core/index.ts";
import {
  breakAll,
  busy,
  deployment,
  failWith,
  model,
  routingFixture,
  take,
  unhealthy,
  walkOf,
} from "../../test/simulation/routing-fixture.ts";
import type { Plan } from "./plan.ts";
import { placeSentence } from "./remarks.ts";

function notesOf(plan: Plan): readonly string[] {
  return plan.explain().places.map(({ deployment, remarks }) => `${deployment.id}: ${placeSentence(remarks)}`);
}

const elsewhere = (): Failure =>
  new Failure("upstream_error", "401", { retry: "other", unhealthy: true, arrival: "refused" });

describe("the order of a plan", () => {
  test("lower priority numbers come first, then the fallback models", () => {
    const { router } = routingFixture();
    const asked = model("asked", [deployment("b", { priority: 2 }), deployment("a", { priority: 1 })]);
    const plan = router.plan([asked, model("fallback", [deployment("c")])]);
    const first = take(plan);
    const second = failWith(plan, first, elsewhere());
    const third = second === null ? null : failWith(plan, second, elsewhere());
    expect([first, second, third].map((selection) => selection?.deployment.id)).toEqual(["a", "b", "c"]);
    expect(third?.model.name).toBe("fallback");
  });

  test("equals share the calls by weight", () => {
    const { router } = routingFixture(7);
    const shared = model("m", [deployment("a", { weight: 300 }), deployment("b", { weight: 100 })]);
    let first = 0;
    for (let call = 0; call < 4_000; call++) {
      const selection = take(router.plan([shared]));
      if (selection.deployment.id === "a") first++;
      selection.end("ok", 1);
    }
    expect(first / 4_000).toBeCloseTo(0.75, 1);
  });

  test("weight 0 gets nothing, unless it is alone", () => {
    const { router } = routingFixture();
    const idle = deployment("idle", { weight: 0 });
    for (let call = 0; call < 50; call++) {
      const plan = router.plan([model("m", [idle, deployment("a")])]);
      const selection = take(plan);
      expect(selection.deployment.id).toBe("a");
      expect(failWith(plan, selection, new Failure("upstream_error", "403", { retry: "other" }))).toBeNull();
    }
    expect(take(router.plan([model("m", [idle])])).deployment.id).toBe("idle");
  });

  test("excludes disabled deployments, and returns 503 if none is left", () => {
    const { router } = routingFixture();
    const off = deployment("off", { enabled: false });
    const gone = deployment("gone", { provider: { ...off.provider, enabled: false } });
    expect(take(router.plan([model("m", [off, gone, deployment("on")])])).deployment.id).toBe("on");
    expect(() => router.plan([model("m", [off, gone])])).toThrow(Failure);
  });

  test("tries a cooling deployment after all others, including fallback models", () => {
    const { router } = routingFixture();
    const asked = model("asked", [deployment("a")]);
    take(router.plan([asked])).end(busy(5_000), 1);
    const plan = router.plan([asked, model("fallback", [deployment("b")])]);
    expect(take(plan).deployment.id).toBe("b");
    expect(take(router.plan([asked]))).toMatchObject({ waitMs: 0, deployment: { id: "a" } });
  });

  test("a shorter Retry-After does not shorten a cooldown, and it ends after its time", () => {
    const { router, clock } = routingFixture();
    const asked = model("asked", [deployment("a")]);
    for (const waitMs of [30_000, 1_000]) take(router.plan([asked])).end(busy(waitMs), 1);
    expect(router.states()[0]?.coolingMs).toBe(30_000);
    clock.advance(30_000);
    expect(router.states()[0]?.coolingMs).toBe(0);
    expect(notesOf(router.plan([asked]))).toEqual(["a: "]);
  });

  test("a deployment cools when its upstream asks for that, not when this gateway's own threads or disk are busy", () => {
    const { router } = routingFixture();
    const asked = model("m", [deployment("a")]);
    for (const [code, cools] of [
      ["overloaded", false],
      ["storage_unavailable", false],
      ["ledger_unavailable", false],
      ["upstream_error", true],
    ] as const) {
      take(router.plan([asked])).end(
        new Failure(code, "later", { retryAfterMs: 1_000, arrival: "unsent", cools: "now" }),
        1,
      );
      expect([code, (router.states()[0]?.coolingMs ?? 0) > 0]).toEqual([code, cools]);
    }
  });

  test("explains the position of each candidate and the attempts", () => {
    const { router } = routingFixture();
    const asked = model("gpt", [deployment("a"), deployment("b", { priority: 2 })]);
    for (let failures = 0; failures < 5; failures++)
      take(router.plan([model("x", [deployment("a")])])).end(unhealthy(), 1);
    const plan = router.plan([asked]);
    failWith(plan, take(plan), new Failure("upstream_error", "400", { arrival: "refused" }));
    expect(notesOf(plan)).toEqual(["b: ", "a: breaker open for 30 s: 5 failures in a row"]);
    expect(walkOf(plan)).toEqual([
      "attempt 1 to b: first in order",
      "b failed: upstream_error, retry never",
      "no further attempt: this failure is not retried",
    ]);
  });

  test("explains the state at the start of the call", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a")])]);
    take(plan).end(busy(60_000), 1);
    expect(notesOf(plan)).toEqual(["a: "]);
    take(router.plan([model("m", [deployment("b")])])).end(busy(2_000), 1);
    const cooled = router.plan([model("m", [deployment("b"), deployment("c", { priority: 2 })])]);
    expect(notesOf(cooled)).toEqual(["c: ", "b: cooling for 2 s: its upstream asked to wait"]);
    expect(walkOf(cooled)).toEqual([]);
  });

  test("explains why a deployment is first: weight, affinity, account, fallback", () => {
    const { router } = routingFixture();
    const equals = model("m", [deployment("a"), deployment("b")]);
    expect(notesOf(router.plan([equals]))[0]).toEndWith("drawn by weight and load, first of 2");
    expect(notesOf(router.plan([equals], { affinity: "talk" }))[0]).toEndWith(
      "affinity: preferred for this conversation, first of 2",
    );
    expect(notesOf(router.plan([equals], { provider: "provider-b" }))).toEqual([
      "b: only this account has the state that the call continues",
      "a: left out: another account has the state that the call continues",
    ]);
    const fallback = router.plan([model("m", [deployment("a")]), model("n", [deployment("c")])]);
    expect(notesOf(fallback)).toEqual(["a: ", "c: a fallback model"]);
  });

  test("explains excluded deployments, also without a plan", () => {
    const { router } = routingFixture();
    const off = deployment("off", { enabled: false });
    const gone = deployment("gone", { provider: { ...off.provider, enabled: false } });
    const idle = deployment("idle", { weight: 0 });
    const other = deployment("other");
    const constraints = { canServe: ({ id }: { readonly id: string }) => id !== "other" };
    expect(notesOf(router.plan([model("m", [off, gone, idle, other, deployment("a")])], constraints))).toEqual([
      "a: ",
      "off: left out: disabled",
      "gone: left out: its provider is disabled",
      "idle: left out: weight 0, while others of its priority have a weight",
      "other: left out: it cannot serve this call",
    ]);
    expect(
      router.leftOut([model("m", [off, other])], constraints).map(({ remarks }) => placeSentence(remarks)),
    ).toEqual(["left out: disabled", "left out: it cannot serve this call"]);
  });

  test("has no choice if only one deployment can serve the call", () => {
    const { router } = routingFixture();
    const one = model("m", [deployment("a"), deployment("off", { enabled: false })]);
    expect(router.plan([one]).chosen).toBe(false);
    expect(router.plan([one], { provider: "provider-a" }).chosen).toBe(true);
    expect(router.plan([one, model("n", [deployment("b")])]).chosen).toBe(true);
  });
});

describe("a deployment at its limit of calls in flight", () => {
  test("passes further calls to the next one; when all are full there is no pick", () => {
    const { router } = routingFixture();
    const shared = model("m", [deployment("a"), deployment("b", { priority: 2 })]);
    const held = Array.from({ length: bounds.deploymentInFlightMax }, () => take(router.plan([shared])));
    expect(held.every((selection) => selection.deployment.id === "a")).toBe(true);
    expect(take(router.plan([shared])).deployment.id).toBe("b");
    const full = router.plan([model("only", [deployment("a")])]);
    expect(full.next(null)).toBeNull();
    expect(walkOf(full).at(-1)).toBe("no further attempt: every deployment is at its limit of calls in flight");
    held[0]?.end("ok", 1);
    expect(take(router.plan([shared])).deployment.id).toBe("a");
  });
});

describe("a pick", () => {
  test("counts as in flight until its first end; later ends do nothing", () => {
    const { router } = routingFixture();
    const selection = take(router.plan([model("m", [deployment("a")])]));
    expect(router.states()).toMatchObject([{ deploymentId: "a", inFlight: 1, breaker: "closed", latencyMs: null }]);
    selection.end("ok", 120);
    selection.end(unhealthy(), 1);
    selection.end("cancelled", 1);
    expect(router.states()).toMatchObject([{ inFlight: 0, latencyMs: 120 }]);
  });

  test("of a caller that left does not change the deployment's health", () => {
    const { router, changes } = routingFixture();
    for (let call = 0; call < 50; call++) take(router.plan([model("m", [deployment("a")])])).end("cancelled", 1);
    expect(changes).toEqual([]);
    expect(router.states()).toMatchObject([{ inFlight: 0 }]);
  });

  test("that was not ended is ended when the next one is requested", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a"), deployment("b", { priority: 2 })])]);
    take(plan);
    expect(plan.next(elsewhere())?.deployment.id).toBe("b");
    expect(router.states().map(({ inFlight }) => inFlight)).toEqual([0, 1]);
  });

  test("that is a probe closes the breaker when it has streamed for ten seconds, long before its stream ends", () => {
    const fixture = routingFixture();
    const only = model("m", [deployment("a")]);
    breakAll(fixture, only);
    fixture.clock.advance(30_000);
    const probe = take(fixture.router.plan([only]));
    probe.answered();
    probe.streamed();
    fixture.clock.advance(9_999);
    probe.streamed();
    expect(fixture.router.states()).toMatchObject([{ breaker: "half-open", inFlight: 1 }]);
    fixture.clock.advance(1);
    probe.streamed();
    expect(fixture.router.states()).toMatchObject([{ breaker: "closed", inFlight: 1, coolingMs: 0 }]);
    probe.end("ok", 600_000);
    expect(fixture.changes.map(({ id, state }) => `${id} ${state}`)).toEqual(["a open", "a half-open", "a closed"]);
  });

  test("that is a probe whose stream breaks opens the breaker for twice as long, though its content had begun", () => {
    const fixture = routingFixture();
    const only = model("m", [deployment("a")]);
    breakAll(fixture, only);
    fixture.clock.advance(30_000);
    const probe = take(fixture.router.plan([only]));
    probe.answered();
    probe.streamed();
    fixture.clock.advance(5_000);
    probe.end(unhealthy(), 5_000);
    expect(fixture.router.states()).toMatchObject([{ breaker: "open", coolingMs: 60_000 }]);
  });

  test("that closed the breaker counts when its stream breaks after all", () => {
    const fixture = routingFixture();
    const only = model("m", [deployment("a")]);
    breakAll(fixture, only);
    fixture.clock.advance(30_000);
    const probe = take(fixture.router.plan([only]));
    probe.streamed();
    fixture.clock.advance(10_000);
    probe.streamed();
    probe.end(unhealthy(), 20_000);
    for (let call = 0; call < 4; call++) take(fixture.router.plan([only])).end(unhealthy(), 1);
    expect(fixture.router.states()).toMatchObject([{ breaker: "open" }]);
  });
});
