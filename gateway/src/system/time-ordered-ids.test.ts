import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { createIds, systemClock } from "./index.ts";

const shape = /^att_[0-9A-HJKMNP-TV-Z]{26}$/;

test("creates ids of the prefix and 26 characters of Crockford base32", () => {
  const ids = createIds(systemClock);
  for (let i = 0; i < 2_000; i++) expect(ids.next("att_")).toMatch(shape);
});

test("creates ids that sort by creation, within and across milliseconds", () => {
  const clock = new FakeClock();
  const ids = createIds(clock);
  const made: string[] = [];
  for (let i = 0; i < 5_000; i++) {
    made.push(ids.next("req_"));
    if (i % 700 === 0) clock.advance(1);
  }
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

test("keeps ids unique and ordered when the clock is set back", () => {
  const clock = new FakeClock();
  const ids = createIds(clock);
  const before = ids.next("req_");
  clock.jump(-3_600_000);
  const after = ids.next("req_");
  expect(after > before).toBe(true);
});

test("encodes the creation time in the first ten characters", () => {
  const clock = new FakeClock(Date.UTC(2026, 6, 1, 12));
  const ids = createIds(clock);
  for (const stepMs of [0, 1, 1_022, 1, 1, 3_600_000]) {
    clock.advance(stepMs);
    const text = ids.next("").slice(0, 10);
    const ms = [...text].reduce((sum, c) => sum * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(c), 0);
    expect(ms).toBe(clock.now());
  }
});

test("creates different ids in two processes within a millisecond", () => {
  const clock = new FakeClock();
  const one = createIds(clock);
  const two = createIds(clock);
  const made = Array.from({ length: 1_000 }, () => [one.next(""), two.next("")]).flat();
  expect(new Set(made).size).toBe(made.length);
});
