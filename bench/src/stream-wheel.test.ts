import { expect, test } from "bun:test";
import { patienceMs } from "../../test/until.ts";
import { until } from "./deadline.ts";
import { StreamWheel } from "./stream-wheel.ts";

test("a paced stream gets events at its interval until the last one", async () => {
  const times: number[] = [];
  const wheel = new StreamWheel<string>(() => times.push(performance.now()) < 5);
  const start = performance.now();
  wheel.enter("one", 20);
  await until(() => times.length === 5, patienceMs, "five events");
  // The timer may be late but never early, and a late event must not delay later ones.
  for (const [index, time] of times.entries()) expect(time - start).toBeGreaterThanOrEqual(20 * (index + 1) - 2);
});

test("streams added at different times do not fire together, and a removed stream gets no more events", async () => {
  const seen: string[] = [];
  const gone = new Set<string>();
  const wheel = new StreamWheel<string>((member) => !gone.has(member) && seen.push(member) > 0);
  wheel.enter("fast", 3);
  wheel.enter("slow", 30);
  await until(() => seen.includes("slow"), patienceMs, "the first event of the slow member");
  expect(seen.filter((member) => member === "fast").length).toBeGreaterThanOrEqual(5);
  gone.add("fast");
  const had = seen.filter((member) => member === "fast").length;
  const slow = seen.length - had;
  await until(() => seen.length - had >= slow + 2, patienceMs, "two more of the slow one");
  expect(seen.filter((member) => member === "fast").length).toBe(had);
  gone.add("slow");
});
