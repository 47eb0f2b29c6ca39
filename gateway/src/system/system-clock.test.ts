import { expect, test } from "bun:test";
import { systemClock } from "./index.ts";

test("a timer runs its act once after the delay", async () => {
  const startMs = systemClock.monotonic();
  await new Promise<void>((resolve) => systemClock.after(20, resolve));
  expect(systemClock.monotonic() - startMs).toBeGreaterThanOrEqual(18);
});

test("a cancelled timer does not run", async () => {
  let ran = false;
  const cancel = systemClock.after(1, () => {
    ran = true;
  });
  cancel();
  await new Promise<void>((resolve) => systemClock.after(10, resolve));
  expect(ran).toBe(false);
});

test("a delay beyond 31 bits does not fire at once", async () => {
  let ran = false;
  const cancel = systemClock.after(90 * 24 * 3_600_000, () => {
    ran = true;
  });
  await new Promise<void>((resolve) => systemClock.after(15, resolve));
  cancel();
  expect(ran).toBe(false);
});
