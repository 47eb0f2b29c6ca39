import { expect, test } from "bun:test";
import { task } from "../../../test/conformance/task-ground.ts";
import { baseDelayMs, pollDelayMs } from "./pace.ts";

const second = 1_000;
const hour = 3_600 * second;

test("looks begin every three seconds, become rarer with age, and rarer still for what takes hours", () => {
  const queued = task("a", { state: "queued" });
  const at = (ageMs: number): number => baseDelayMs(queued, queued.createdAt + ageMs);
  const ages = [0, 30 * second, 100 * second, 300 * second, 0.6 * hour, 3 * hour, 20 * hour];
  expect(ages.map(at)).toEqual([3, 3, 10, 30, 60, 120, 300].map((seconds) => seconds * second));
});

test("a vendor's slow tier and tasks that nobody has heard of are looked at less often", () => {
  const flex = task("a", { state: "queued", request: '{"service_tier": "flex"}' });
  const unknown = task("b", { state: "unknown" });
  for (const slow of [flex, unknown]) expect(baseDelayMs(slow, slow.createdAt)).toBe(15 * second);
});

test("looks that begin together spread by a sixth", () => {
  const queued = task("a", { state: "queued" });
  expect([0, 0.5, 1].map((unit) => pollDelayMs(queued, queued.createdAt, unit))).toEqual([2_550, 3_000, 3_450]);
});
