import { expect, test } from "bun:test";
import { patienceMs } from "../../test/until.ts";
import { until } from "./deadline.ts";
import { StreamWheel } from "./stream-wheel.ts";

test("A paced stream gets its events at its own rhythm until it has had the last", async () => {
  const times: number[] = [];
  const wheel = new StreamWheel<string>(() => times.push(performance.now()) < 5);
  const start = performance.now();
  wheel.enter("one", 20);
  await until(() => times.length === 5, patienceMs, "five events");
  // The timer may be late, never early, and lateness of one event must not move the later ones.
  for (const [index, time] of times.entries()) expect(time - start).toBeGreaterThanOrEqual(20 * (index + 1) - 2);
});

test("Streams that enter at different moments keep apart, and a stream that is gone gets nothing more", async () => {
  const seen: string[] = [];
  const gone = new Set<string>();
  const wheel = new StreamWheel<string>((member) => !gone.has(member) && seen.push(member) < 40);
  wheel.enter("slow", 30);
  wheel.enter("fast", 3);
  await until(() => seen.includes("slow"), patienceMs, "the slow one's first event");
  expect(seen.filter((member) => member === "fast").length).toBeGreaterThanOrEqual(5);
  gone.add("fast");
  const had = seen.filter((member) => member === "fast").length;
  const slow = seen.length - had;
  await until(() => seen.length - had >= slow + 2, patienceMs, "two more of the slow one");
  expect(seen.filter((member) => member === "fast").length).toBe(had);
});
