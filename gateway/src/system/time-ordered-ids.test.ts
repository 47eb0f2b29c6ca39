import { expect, test } from "bun:test";
import { FakeClock } from "../../test/fake-clock.ts";
import { createIds, systemClock } from "./index.ts";

const shape = /^att_[0-9A-HJKMNP-TV-Z]{26}$/;

test("an id is its prefix and 26 characters of Crockford base32", () => {
  const ids = createIds(systemClock);
  for (let i = 0; i < 2_000; i++) expect(ids.next("att_")).toMatch(shape);
});

test("ids sort in the order they were made, within a millisecond and across milliseconds", () => {
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

test("a wall clock that is set back neither repeats nor disorders ids", () => {
  const clock = new FakeClock();
  const ids = createIds(clock);
  const before = ids.next("req_");
  clock.jump(-3_600_000);
  const after = ids.next("req_");
  expect(after > before).toBe(true);
});

test("the first ten characters are the time of creation", () => {
  const clock = new FakeClock(Date.UTC(2026, 6, 1, 12));
  const ids = createIds(clock);
  for (const passedMs of [0, 1, 1_022, 1, 1, 3_600_000]) {
    clock.advance(passedMs);
    const text = ids.next("").slice(0, 10);
    const ms = [...text].reduce((sum, c) => sum * 32 + "0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(c), 0);
    expect(ms).toBe(clock.now());
  }
});

test("two processes in the same millisecond do not make the same id", () => {
  const clock = new FakeClock();
  const one = createIds(clock);
  const two = createIds(clock);
  const made = Array.from({ length: 1_000 }, () => [one.next(""), two.next("")]).flat();
  expect(new Set(made).size).toBe(made.length);
});
