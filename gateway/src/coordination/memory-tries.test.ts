import { expect, test } from "bun:test";
import { bounds } from "#core/index.ts";
import { triesSuite } from "../../test/conformance/tries-suite.ts";
import { FakeClock } from "../../test/fake-clock.ts";
import { createMemoryTries } from "./memory-tries.ts";

triesSuite("memory", async () => {
  const clock = new FakeClock();
  const windows = new Map<string, ReturnType<ReturnType<typeof createMemoryTries>>>();
  const open: ReturnType<typeof createMemoryTries> = (rule) => {
    const known = windows.get(rule.name) ?? createMemoryTries(clock)(rule);
    windows.set(rule.name, known);
    return known;
  };
  return {
    open: [open, open],
    advance: async (ms) => clock.advance(ms),
    [Symbol.asyncDispose]: async () => undefined,
  };
});

test("remembers a bounded number of windows, and does not evict used-up ones for new ones", async () => {
  const tries = createMemoryTries(new FakeClock())({ name: "a", max: 2, windowMs: 1_000, windowMsMax: 1_000 });
  for (let n = 0; n < 2; n++) await tries.take(["guesser"]);
  await tries.take(["first"]);
  for (let n = 0; n < bounds.triersMax + 100; n++) await tries.take([`address-${n}`]);
  expect((await tries.take(["guesser"])).waitMs).toBe(1_000);
  // It was forgotten, so it has both of its tries again.
  expect(await tries.take(["first"])).toEqual({ waitMs: 0, isLast: false });
});
