import { expect, test } from "bun:test";
import { abortSignalOf, LeaveSignal } from "./runtime-types.ts";

test("calls each listener once, and none that was removed", () => {
  const signal = new LeaveSignal();
  const called: string[] = [];
  const listener = (who: string) => () => void called.push(who);
  const [first, second, third] = [listener("first"), listener("second"), listener("third")];
  for (const one of [first, second, third, second]) signal.addEventListener("abort", one);
  signal.removeEventListener("abort", third);
  signal.abort();
  signal.abort();
  expect([signal.aborted, called]).toEqual([true, ["first", "second"]]);
});

test("the first listener can be removed before the others", () => {
  const signal = new LeaveSignal();
  let called = 0;
  const first = (): void => {};
  signal.addEventListener("abort", first);
  signal.addEventListener("abort", () => void called++);
  signal.removeEventListener("abort", first);
  signal.addEventListener("abort", () => void called++);
  signal.abort();
  expect(called).toBe(2);
});

test("aborts a standard signal too, also one requested after the end", () => {
  const signal = new LeaveSignal();
  const before = abortSignalOf(signal);
  expect(before.aborted).toBe(false);
  signal.abort();
  expect([before.aborted, abortSignalOf(signal).aborted]).toEqual([true, true]);
});
