import { expect, test } from "bun:test";
import { task } from "../../../test/conformance/task-fixture.ts";
import { baseDelayMs, pollDelayMs } from "./pace.ts";

const second = 1_000;
const hour = 3_600 * second;

test("polls every three seconds at first and less often with age", () => {
  const queued = task("a", { state: "queued" });
  const at = (ageMs: number): number => baseDelayMs(queued, queued.createdAt + ageMs);
  const ages = [0, 30 * second, 100 * second, 300 * second, 0.6 * hour, 3 * hour, 20 * hour];
  expect(ages.map(at)).toEqual([3, 3, 10, 30, 60, 120, 300].map((seconds) => seconds * second));
});

test("polls flex-tier and unknown tasks less often", () => {
  const flex = task("a", { state: "queued", request: '{"service_tier": "flex"}' });
  const unknown = task("b", { state: "unknown" });
  for (const slow of [flex, unknown]) expect(baseDelayMs(slow, slow.createdAt)).toBe(15 * second);
});

test("spreads simultaneous polls by 15 percent", () => {
  const queued = task("a", { state: "queued" });
  expect([0, 0.5, 1].map((unit) => pollDelayMs(queued, queued.createdAt, unit))).toEqual([2_550, 3_000, 3_450]);
});
