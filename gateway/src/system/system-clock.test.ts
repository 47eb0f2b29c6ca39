import { expect, test } from "bun:test";
import { systemClock } from "./index.ts";

test("runs an action after the delay", async () => {
  const startMs = systemClock.monotonic();
  await new Promise<void>((resolve) => systemClock.after(20, resolve));
  expect(systemClock.monotonic() - startMs).toBeGreaterThanOrEqual(18);
});

test("does not run a canceled timer", async () => {
  let ran = false;
  const cancel = systemClock.after(1, () => {
    ran = true;
  });
  cancel();
  await new Promise<void>((resolve) => systemClock.after(10, resolve));
  expect(ran).toBe(false);
});

test("does not fire at once for a delay beyond 31 bits", async () => {
  let ran = false;
  const cancel = systemClock.after(90 * 24 * 3_600_000, () => {
    ran = true;
  });
  await new Promise<void>((resolve) => systemClock.after(15, resolve));
  cancel();
  expect(ran).toBe(false);
});
