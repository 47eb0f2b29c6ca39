import { describe, expect, test } from "bun:test";
import { Failure, type Model } from "#core/index.ts";
import { busy, deployment, model, routingFixture, take } from "../../test/simulation/routing-fixture.ts";
import { seededChance } from "../../test/simulation/seeded-chance.ts";

const elsewhere = (): Failure => new Failure("upstream_error", "401", { retry: "other" });

/** The order in which a call tries them if every attempt fails. */
function orderOf(
  fixture: ReturnType<typeof routingFixture>,
  models: readonly Model[],
  affinity: string | null,
): string {
  const plan = fixture.router.plan(models, { affinity });
  const ids: string[] = [];
  for (let selection = plan.next(null); selection !== null; ) {
    ids.push(selection.deployment.id);
    const failure = elsewhere();
    selection.end(failure, 1);
    selection = plan.next(failure);
  }
  return ids.join("");
}

const weights = { a: 1, b: 2, c: 5 };
const tier = model(
  "m",
  Object.entries(weights).map(([id, weight]) => deployment(id, { weight })),
);
/** How a sort by one number for each puts them: the smallest of -log(1 - unit) / weight first. */
function sorted(unit: (id: string) => number): string {
  const drawn = Object.entries(weights).map(([id, weight]) => ({ id, draw: -Math.log(1 - unit(id)) / weight }));
  return drawn
    .sort((one, other) => one.draw - other.draw)
    .map(({ id }) => id)
    .join("");
}

function shares(calls: number, order: (call: number) => string): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { abc: 0, acb: 0, bac: 0, bca: 0, cab: 0, cba: 0 };
  for (let call = 0; call < calls; call++) {
    const found = order(call);
    counts[found] = (counts[found] ?? 0) + 1 / calls;
  }
  return counts;
}

describe("an order that is computed on demand", () => {
  test("matches the distribution of a full weighted sort", () => {
    const fixture = routingFixture(11);
    const chance = seededChance(12);
    const calls = 20_000;
    const byNeed = shares(calls, () => orderOf(fixture, [tier], null));
    const bySort = shares(calls, () => sorted(() => chance.unit()));
    for (const [order, share] of Object.entries(bySort)) {
      const [first, second] = [...order].map((id) => weights[id as keyof typeof weights]);
      const exact = ((first ?? 0) / 8) * ((second ?? 0) / (8 - (first ?? 0)));
      expect([order, Math.abs(share - exact) < 0.015]).toEqual([order, true]);
      expect([order, Math.abs((byNeed[order] ?? 0) - exact) < 0.015]).toEqual([order, true]);
    }
  });

  test("matches the order of a full hash sort for an affinity", () => {
    const fixture = routingFixture();
    for (let session = 0; session < 500; session++) {
      const affinity = `session-${session}`;
      const unit = (id: string) => Number(BigInt.asUintN(53, Bun.hash.wyhash(`${affinity}\n${id}`))) / 2 ** 53;
      expect(orderOf(fixture, [tier], affinity)).toBe(sorted(unit));
    }
  });

  test("draws only two candidates if the first serves the call", () => {
    let draws = 0;
    const fixture = routingFixture(1, () => draws++);
    const wide = model(
      "m",
      Array.from({ length: 21 }, (_, index) => deployment(`d${index}`)),
    );
    fixture.router.plan([wide, tier]).next(null)?.end("ok", 1);
    expect(draws).toBe(2);
  });

  test("contains a deployment of two models once, and explains all candidates", () => {
    const fixture = routingFixture();
    const plan = fixture.router.plan([tier, model("n", [deployment("c"), deployment("d")]), tier]);
    plan.next(null)?.end("ok", 1);
    const places = plan.explain().places.map((place) => place.deployment.id);
    expect(places.toSorted()).toEqual(["a", "b", "c", "d"]);
    expect(places.at(-1)).toBe("d");
  });
});

test("explains problems of all deployments, also of untried ones", () => {
  const fixture = routingFixture();
  const wide = model("m", [deployment("a"), deployment("b", { priority: 2 }), deployment("c", { priority: 3 })]);
  take(fixture.router.plan([model("m", [deployment("c")])])).end(busy(5_000), 1);
  const plan = fixture.router.plan([wide]);
  plan.next(null)?.end("ok", 1);
  fixture.clock.advance(6_000);
  expect(plan.explain().places.map(({ remarks }) => remarks.map(({ code }) => code))).toEqual([
    [],
    [],
    ["cooling", "upstream_asked_to_wait"],
  ]);
  const later = fixture.router.plan([wide]);
  later.next(null)?.end("ok", 1);
  expect(later.explain().places.flatMap(({ remarks }) => remarks)).toEqual([]);
});
