import { describe, expect, test } from "bun:test";
import { Failure, type Model } from "#core/index.ts";
import {
  breakAll,
  busy,
  deployment,
  failWith,
  limited,
  model,
  routingFixture,
  take,
  unhealthy,
  walkOf,
} from "../../test/simulation/routing-fixture.ts";
import type { Selection } from "./selection.ts";

const elsewhere = (): Failure =>
  new Failure("upstream_error", "401", { retry: "other", unhealthy: true, arrival: "refused" });
const unknown = (): Failure => new Failure("upstream_timeout", "nobody knows", { retry: "same" });

describe("after a failure", () => {
  test("`never` ends the call", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a"), deployment("b")])]);
    expect(failWith(plan, take(plan), new Failure("invalid_request", "400"))).toBeNull();
  });

  test("`other` goes to another deployment at once and never back", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a"), deployment("b", { priority: 2 })])]);
    const second = failWith(plan, take(plan), elsewhere());
    expect(second).toMatchObject({ waitMs: 0, deployment: { id: "b" } });
    expect(second === null ? "none" : failWith(plan, second, elsewhere())).toBeNull();
  });

  test("`same` goes to another deployment of the model at once", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a"), deployment("b", { priority: 2 })])]);
    expect(failWith(plan, take(plan), unhealthy())).toMatchObject({ waitMs: 0, deployment: { id: "b" } });
  });

  test("`same` retries the only deployment of a model after 100 ms to 2 s, then the fallback model", () => {
    const { router } = routingFixture();
    for (let call = 0; call < 20; call++) {
      const plan = router.plan([model("m", [deployment(`a${call}`)]), model("fallback", [deployment(`b${call}`)])]);
      const second = failWith(plan, take(plan), unhealthy());
      expect(second?.deployment.id).toBe(`a${call}`);
      expect(second?.waitMs).toBeGreaterThanOrEqual(100);
      expect(second?.waitMs).toBeLessThanOrEqual(2_000);
      const third = second === null ? null : failWith(plan, second, unhealthy());
      expect(third).toMatchObject({ waitMs: 0, deployment: { id: `b${call}` } });
      expect(third === null ? "none" : failWith(plan, third, unhealthy())).toBeNull();
      expect(walkOf(plan).at(-1)).toBe("no further attempt: nothing is left to try");
    }
  });

  test("Retry-After sends the call to another deployment at once, and cools the refused one exactly that long", () => {
    const { router, clock } = routingFixture();
    const shared = model("m", [deployment("a"), deployment("b", { priority: 2 })]);
    const plan = router.plan([shared]);
    const second = failWith(plan, take(plan), busy(7_000));
    expect(second).toMatchObject({ waitMs: 0, deployment: { id: "b" } });
    second?.end("ok", 1);
    clock.advance(6_999);
    expect(take(router.plan([shared])).deployment.id).toBe("b");
    clock.advance(1);
    expect(take(router.plan([shared])).deployment.id).toBe("a");
  });

  test("Retry-After of the only deployment is waited for up to 10 s; longer ends the call", () => {
    const { router } = routingFixture();
    const plan = router.plan([model("m", [deployment("a")])]);
    expect(failWith(plan, take(plan), busy(9_000))).toMatchObject({ waitMs: 9_000, deployment: { id: "a" } });
    const longer = router.plan([model("m", [deployment("b")])]);
    expect(failWith(longer, take(longer), busy(10_001))).toBeNull();
  });

  test("429 does not count against a deployment, however often it comes", () => {
    const { router, changes } = routingFixture();
    for (let call = 0; call < 100; call++) take(router.plan([model("m", [deployment("a")])])).end(busy(1), 1);
    expect(changes).toEqual([]);
  });

  test("tries every other deployment after a refusal, then the fallback models", () => {
    const { router } = routingFixture();
    const many = Array.from({ length: 40 }, (_, index) => deployment(`d${index}`, { priority: index }));
    const plan = router.plan([model("m", many), model("fallback", [deployment("spare")])]);
    const asked: string[] = [];
    for (let selection: Selection | null = take(plan); selection !== null && selection.waitMs === 0; ) {
      asked.push(selection.deployment.id);
      selection = failWith(plan, selection, limited());
    }
    expect(asked).toEqual([...many.map(({ id }) => id), "spare"]);
  });

  test("a refusal without Retry-After cools its deployment for a second, and twice as long each time until a call succeeds", () => {
    const { router, clock } = routingFixture();
    const shared = model("m", [deployment("a"), deployment("b", { priority: 2 })]);
    const coolingMs = () => router.states()[0]?.coolingMs;
    const seen: unknown[] = [];
    for (let round = 0; round < 7; round++) {
      // Calls that were under way together count once.
      const together = Array.from({ length: 9 }, () => take(router.plan([shared])));
      for (const selection of together) selection.end(limited(), 1);
      seen.push(coolingMs());
      expect(take(router.plan([shared])).deployment.id).toBe("b");
      clock.advance(coolingMs() ?? 0);
    }
    expect(seen).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    take(router.plan([shared])).end("ok", 1);
    take(router.plan([shared])).end(limited(), 1);
    expect(coolingMs()).toBe(1_000);
  });

  test.each([
    [404, "openai", true],
    [403, "openai", true],
    [404, "anthropic", true],
    [403, "anthropic", false],
  ])(
    "a %i that another deployment serves is the account's, unless another vendor only allows more (%s)",
    (status, kind, cools) => {
      const { router } = routingFixture();
      const other = deployment("b", { priority: 2 });
      const shared = model("m", [deployment("a"), { ...other, provider: { ...other.provider, kind } }]);
      const upstream = { status, contentType: "application/json", body: new Uint8Array(0) };
      const refused = new Failure("upstream_error", "no", {
        ...{ retry: "other", arrival: "refused", cools: "once_served_elsewhere", upstream },
      });
      const plan = router.plan([shared]);
      const second = failWith(plan, take(plan), refused);
      const coolingMs = () => router.states()[0]?.coolingMs;
      expect(coolingMs()).toBe(0);
      second?.answered();
      expect(coolingMs()).toBe(cools ? 1_000 : 0);
    },
  );

  test("sends a prompt that is too long only to deployments with a larger context window", () => {
    const { router } = routingFixture();
    const windows = { small: 8_000, same: 8_000, unknown: null, large: 100_000, larger: 1_000_000 };
    const all = Object.entries(windows).map(([id, contextWindow], priority) =>
      deployment(id, { priority, contextWindow }),
    );
    const tooLong = new Failure("upstream_error", "400", { arrival: "refused", contextLength: true });
    const plan = router.plan([model("m", all.slice(0, 3)), model("fallback", all.slice(3))]);
    const second = failWith(plan, take(plan), tooLong);
    expect(second?.deployment.id).toBe("large");
    const third = second === null ? null : failWith(plan, second, limited());
    expect(third?.deployment.id).toBe("larger");
    expect(third === null ? "none" : failWith(plan, third, tooLong)).toBeNull();
    expect(walkOf(plan)).toContain("attempt 2 to large: next in order with a larger context window");
    const only = router.plan([model("m", all.slice(0, 3))]);
    expect(failWith(only, take(only), tooLong)).toBeNull();
    expect(walkOf(only).at(-1)).toBe("no further attempt: this failure is not retried");
  });

  test("tries cooling deployments last, once each", () => {
    const { router } = routingFixture();
    const shared = model("m", [deployment("a"), deployment("b", { priority: 2 })]);
    for (const one of shared.deployments) take(router.plan([model("x", [one])])).end(limited(), 1);
    const plan = router.plan([shared, model("fallback", [deployment("c")])]);
    const ids: string[] = [];
    for (let selection: Selection | null = take(plan); selection !== null && selection.waitMs === 0; ) {
      ids.push(selection.deployment.id);
      selection = failWith(plan, selection, elsewhere());
    }
    expect(ids).toEqual(["c", "a", "b"]);
    expect(walkOf(plan)[2]).toBe("attempt 2 to a: none is ready, so one that is not is tried");
  });

  test("repeats of one deployment are bounded over all calls; time, successes and other deployments give new ones", () => {
    const { router, clock } = routingFixture();
    const only = model("m", [deployment("a")]);
    const repeats = (calls: number, asked: Model = only): number => {
      let repeated = 0;
      for (let call = 0; call < calls; call++) {
        const plan = router.plan([asked]);
        const again = failWith(plan, take(plan), limited());
        if (again === null) expect(walkOf(plan).at(-1)).toContain("the same deployment was retried too often just now");
        else repeated++;
        again?.end("cancelled", 0);
      }
      return repeated;
    };
    expect(repeats(100)).toBe(10);
    expect(repeats(5, model("n", [deployment("b")]))).toBe(5);
    clock.advance(3_000);
    expect(repeats(100)).toBe(3);
    for (let call = 0; call < 20; call++) take(router.plan([only])).end("ok", 1);
    expect(repeats(100)).toBe(4);
  });

  test("a request that a stale connection did not take is sent again, however many there are", () => {
    const { router } = routingFixture();
    for (let call = 0; call < 50; call++) {
      const plan = router.plan([model("m", [deployment("a")])]);
      const stale = new Failure("upstream_unreachable", "closed", { retry: "same", arrival: "stale" });
      expect(failWith(plan, take(plan), stale)).not.toBeNull();
    }
  });

  test("sends a request that may have been executed at most three times, if the settings allow it", () => {
    const { router } = routingFixture();
    const many = Array.from({ length: 9 }, (_, index) => deployment(`d${index}`));
    const plan = router.plan([model("m", many)]);
    let sent = 0;
    for (let selection: Selection | null = take(plan); selection !== null; sent++) {
      selection = failWith(plan, selection, unknown());
    }
    expect(sent).toBe(3);
    expect(walkOf(plan).at(-1)).toBe("no further attempt: the limit of attempts is reached");
  });

  test("when every deployment is unhealthy a call is made once, not once for each", () => {
    const fixture = routingFixture();
    const all = model("m", [deployment("a"), deployment("b"), deployment("c")]);
    breakAll(fixture, all);
    const plan = fixture.router.plan([all]);
    expect(failWith(plan, take(plan), unhealthy())).toBeNull();
  });

  test("a single unhealthy deployment that asks to wait is not tried twice by one call", () => {
    const fixture = routingFixture();
    const only = model("m", [deployment("a")]);
    breakAll(fixture, only);
    const plan = fixture.router.plan([only]);
    expect(failWith(plan, take(plan), unhealthy({ retryAfterMs: 1_000 }))).toBeNull();
  });
});
