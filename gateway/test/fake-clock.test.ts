import { expect, test } from "bun:test";
import { FakeClock } from "./fake-clock.ts";

test("advance runs due timers by time, then by creation, including timers created meanwhile", () => {
  const clock = new FakeClock();
  const ran: string[] = [];
  clock.after(20, () => ran.push("late"));
  clock.after(10, () => {
    ran.push(`first at ${clock.monotonic()}`);
    clock.after(5, () => ran.push(`nested at ${clock.monotonic()}`));
  });
  clock.after(10, () => ran.push("second"));
  clock.after(1_000, () => ran.push("never"));
  clock.advance(100);
  expect(ran).toEqual(["first at 10", "second", "nested at 15", "late"]);
  expect(clock.pending).toBe(1);
});

test("jump moves the wall clock and not the monotonic clock", () => {
  const clock = new FakeClock(1_000);
  clock.jump(-500);
  clock.advance(10);
  expect(clock.now()).toBe(510);
  expect(clock.monotonic()).toBe(10);
});
