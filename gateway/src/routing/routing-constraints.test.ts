import { expect, test } from "bun:test";
import { deployment, model, routingFixture } from "../../test/simulation/routing-fixture.ts";

const first = (fixture: ReturnType<typeof routingFixture>, tier: ReturnType<typeof model>, affinity: string): string =>
  fixture.router.plan([tier], { affinity }).next(null)?.deployment.id ?? "";

test("calls of one conversation prefer one deployment, and conversations spread over all by weight", () => {
  const fixture = routingFixture();
  const tier = model("m", [deployment("a", { weight: 3 }), deployment("b", { weight: 1 })]);
  const counts = { a: 0, b: 0 };
  for (let session = 0; session < 2_000; session++) {
    const chosen = first(fixture, tier, `session-${session}`);
    for (let call = 0; call < 3; call++) expect(first(fixture, tier, `session-${session}`)).toBe(chosen);
    counts[chosen as "a" | "b"]++;
  }
  expect(counts.a / 2_000).toBeCloseTo(0.75, 1);
});

test("when a deployment is taken out only its own conversations move", () => {
  const fixture = routingFixture();
  const all = model("m", [deployment("a"), deployment("b"), deployment("c")]);
  const less = model("m", [deployment("a"), deployment("b")]);
  for (let session = 0; session < 300; session++) {
    const before = first(fixture, all, `s${session}`);
    if (before !== "c") expect(first(fixture, less, `s${session}`)).toBe(before);
  }
});

test("uses only the account that stores what a call needs", () => {
  const fixture = routingFixture();
  const here = deployment("here");
  const there = deployment("there", { provider: { ...here.provider, id: "other" } });
  for (let call = 0; call < 20; call++) {
    const plan = fixture.router.plan([model("m", [here, there])], { provider: "other" });
    expect(plan.next(null)?.deployment.id).toBe("there");
  }
});

test("an account with weight 0 gets only calls that need it", () => {
  const fixture = routingFixture();
  const here = deployment("here");
  const there = deployment("there", { weight: 0, provider: { ...here.provider, id: "other" } });
  const tier = model("m", [here, there]);
  expect(fixture.router.plan([tier], { provider: "other" }).next(null)?.deployment.id).toBe("there");
  expect(fixture.router.plan([tier], {}).next(null)?.deployment.id).toBe("here");
  const unfit = { provider: "other", canServe: () => false };
  expect(() => fixture.router.plan([tier], unfit)).toThrow("cannot be used on this endpoint");
});

test("skips unsuitable deployments, and returns an error if all are unsuitable", () => {
  const fixture = routingFixture();
  const tier = model("m", [deployment("a"), deployment("b")]);
  expect(fixture.router.plan([tier], { canServe: ({ id }) => id === "b" }).next(null)?.deployment.id).toBe("b");
  expect(() => fixture.router.plan([tier], { canServe: () => false })).toThrow("cannot be used on this endpoint");
});
