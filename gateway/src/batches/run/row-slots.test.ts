import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import { RowSlots } from "./row-slots.ts";

test("places that were granted leave no listener on the signal", async () => {
  const slots = new RowSlots();
  const { signal } = new AbortController();
  for (let n = 0; n < 16; n++) expect(slots.take("acme", signal)).toBe(true);
  for (let n = 0; n < 100; n++) {
    const granted = slots.take("acme", signal);
    slots.release("acme");
    expect(await granted).toBe(true);
  }
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("an aborted signal ends the wait, and its place goes to the next one", async () => {
  const slots = new RowSlots();
  const { signal } = new AbortController();
  const leaving = new AbortController();
  for (let n = 0; n < 16; n++) expect(slots.take("acme", signal)).toBe(true);
  const [gone, next] = [slots.take("acme", leaving.signal), slots.take("acme", signal)];
  leaving.abort();
  expect(await gone).toBe(false);
  slots.release("acme");
  expect(await next).toBe(true);
  expect(slots.used).toBe(16);
});
