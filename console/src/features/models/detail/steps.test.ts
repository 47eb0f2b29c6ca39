import { expect, test } from "bun:test";
import { type ConsoleDeployment, consoleRoutes } from "@sluice/contract";
import {
  added,
  changed,
  deploymentsBody,
  movedBetween,
  movedEarlier,
  movedInto,
  movedLater,
  placedKey,
  removed,
  type Steps,
  sameSteps,
  sharesOf,
  stepsOf,
} from "./steps.ts";

const deployment = (provider: string, more: Partial<ConsoleDeployment> = {}): ConsoleDeployment => ({
  id: `dep_${provider}`,
  provider,
  upstream_model: "m",
  priority: 1,
  weight: 100,
  enabled: true,
  capabilities: null,
  health: { state: "healthy", breaker: null, cooling_ms: 0, in_flight: 0, latency_ms: null, last_hour: null },
  ...more,
});
const key = (provider: string) => placedKey(provider, "m");
const names = (steps: Steps) => steps.map((step) => step.map((each) => each.provider).join("+")).join(" > ");

/** a and b share the first step, c and d follow. */
const steps = stepsOf([
  deployment("c", { priority: 20 }),
  deployment("a", { priority: 10, weight: 300 }),
  deployment("d", { priority: 30 }),
  deployment("b", { priority: 10 }),
]);

test("deployments of one priority are one step, the lowest number first", () => {
  expect(names(steps)).toBe("a+b > c > d");
});

test("what was only looked at is sent as it was stored", () => {
  const body = deploymentsBody(steps);
  expect(body.map((each) => each.priority)).toEqual([10, 10, 20, 30]);
  expect(consoleRoutes["models.update"].body?.safeParse({ deployments: body }).success).toBe(true);
  expect(sameSteps(steps, stepsOf([deployment("z")]))).toBe(false);
  expect(sameSteps(steps, changed(steps, key("a"), {}))).toBe(true);
});

test("moved one by one a deployment passes every place there is", () => {
  expect(names(movedEarlier(steps, key("b")))).toBe("b > a > c > d");
  expect(names(movedLater(steps, key("b")))).toBe("a > b > c > d");
  expect(names(movedEarlier(steps, key("c")))).toBe("a+b+c > d");
  expect(names(movedLater(steps, key("c")))).toBe("a+b > d+c");
  const apart = movedLater(steps, key("a"));
  expect(names(apart)).toBe("b > a > c > d");
  expect(names(movedEarlier(apart, key("a")))).toBe("b+a > c > d");
  expect(names(movedEarlier(movedEarlier(apart, key("a")), key("a")))).toBe("a > b > c > d");
  expect(movedLater(steps, key("d"))).toBe(steps);
  expect(movedEarlier(apart, key("b"))).toBe(apart);
});

test("a deployment is put into any step or between any two", () => {
  expect(names(movedInto(steps, key("d"), 0))).toBe("a+b+d > c");
  expect(names(movedBetween(steps, key("d"), 0))).toBe("d > a+b > c");
  expect(names(movedBetween(steps, key("a"), 3))).toBe("b > c > d > a");
  expect(movedInto(steps, key("a"), 0)).toBe(steps);
  expect([movedBetween(steps, key("c"), 1), movedBetween(steps, key("c"), 2)]).toEqual([steps, steps]);
  expect(movedInto(steps, "nobody", 1)).toBe(steps);
});

test("after a move priorities are counted anew, and stay where the order is still the same", () => {
  expect(deploymentsBody(movedEarlier(steps, key("d"))).map((each) => each.priority)).toEqual([1, 1, 2, 2]);
  expect(deploymentsBody(removed(steps, key("c"))).map((each) => each.priority)).toEqual([10, 10, 30]);
  expect(deploymentsBody(added(steps, "e", "m")).map((each) => each.priority)).toEqual([10, 10, 20, 30, 31]);
  const high = stepsOf([deployment("a", { priority: 1_000 })]);
  expect(deploymentsBody(added(high, "e", "m")).map((each) => each.priority)).toEqual([1, 2]);
});

test("shares follow the weights of those that are switched on", () => {
  const shares = (of: Steps) => [...sharesOf(of[0] ?? []).values()];
  expect(shares(steps)).toEqual([0.75, 0.25]);
  expect(shares(changed(steps, key("a"), { enabled: false }))).toEqual([0, 1]);
  expect(shares(changed(steps, key("a"), { weight: 0 }))).toEqual([0, 1]);
  const idle = changed(changed(steps, key("a"), { weight: 0 }), key("b"), { weight: 0 });
  expect(shares(idle)).toEqual([0.5, 0.5]);
});
