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
  type Priorities,
  placedKey,
  prioritiesOf,
  removed,
  samePriorities,
  sharesOf,
} from "./priorities.ts";

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
const names = (priorities: Priorities) =>
  priorities.map((priority) => priority.map((each) => each.provider).join("+")).join(" > ");

/** a and b share the first priority, c and d follow. */
const priorities = prioritiesOf([
  deployment("c", { priority: 20 }),
  deployment("a", { priority: 10, weight: 300 }),
  deployment("d", { priority: 30 }),
  deployment("b", { priority: 10 }),
]);

test("groups deployments by priority, the lowest number first", () => {
  expect(names(priorities)).toBe("a+b > c > d");
});

test("unchanged priorities are sent as stored", () => {
  const body = deploymentsBody(priorities);
  expect(body.map((each) => each.priority)).toEqual([10, 10, 20, 30]);
  expect(consoleRoutes["models.update"].body?.safeParse({ deployments: body }).success).toBe(true);
  expect(samePriorities(priorities, prioritiesOf([deployment("z")]))).toBe(false);
  expect(samePriorities(priorities, changed(priorities, key("a"), {}))).toBe(true);
});

test("moving a deployment step by step visits every position", () => {
  expect(names(movedEarlier(priorities, key("b")))).toBe("b > a > c > d");
  expect(names(movedLater(priorities, key("b")))).toBe("a > b > c > d");
  expect(names(movedEarlier(priorities, key("c")))).toBe("a+b+c > d");
  expect(names(movedLater(priorities, key("c")))).toBe("a+b > d+c");
  const apart = movedLater(priorities, key("a"));
  expect(names(apart)).toBe("b > a > c > d");
  expect(names(movedEarlier(apart, key("a")))).toBe("b+a > c > d");
  expect(names(movedEarlier(movedEarlier(apart, key("a")), key("a")))).toBe("a > b > c > d");
  expect(movedLater(priorities, key("d"))).toBe(priorities);
  expect(movedEarlier(apart, key("b"))).toBe(apart);
});

test("a deployment can be moved into any priority or between any two", () => {
  expect(names(movedInto(priorities, key("d"), 0))).toBe("a+b+d > c");
  expect(names(movedBetween(priorities, key("d"), 0))).toBe("d > a+b > c");
  expect(names(movedBetween(priorities, key("a"), 3))).toBe("b > c > d > a");
  expect(movedInto(priorities, key("a"), 0)).toBe(priorities);
  expect([movedBetween(priorities, key("c"), 1), movedBetween(priorities, key("c"), 2)]).toEqual([
    priorities,
    priorities,
  ]);
  expect(movedInto(priorities, "nobody", 1)).toBe(priorities);
});

test("renumbers priorities after a move, and keeps the numbers if the order is unchanged", () => {
  expect(deploymentsBody(movedEarlier(priorities, key("d"))).map((each) => each.priority)).toEqual([1, 1, 2, 2]);
  expect(deploymentsBody(removed(priorities, key("c"))).map((each) => each.priority)).toEqual([10, 10, 30]);
  expect(deploymentsBody(added(priorities, "e", "m")).map((each) => each.priority)).toEqual([10, 10, 20, 30, 31]);
  const high = prioritiesOf([deployment("a", { priority: 1_000 })]);
  expect(deploymentsBody(added(high, "e", "m")).map((each) => each.priority)).toEqual([1, 2]);
});

test("shares follow the weights of the enabled deployments", () => {
  const shares = (of: Priorities) => [...sharesOf(of[0] ?? []).values()];
  expect(shares(priorities)).toEqual([0.75, 0.25]);
  expect(shares(changed(priorities, key("a"), { enabled: false }))).toEqual([0, 1]);
  expect(shares(changed(priorities, key("a"), { weight: 0 }))).toEqual([0, 1]);
  const idle = changed(changed(priorities, key("a"), { weight: 0 }), key("b"), { weight: 0 });
  expect(shares(idle)).toEqual([0.5, 0.5]);
});
