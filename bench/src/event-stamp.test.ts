import { expect, test } from "bun:test";
import { eventStamp, StampReader } from "./event-stamp.ts";

function stampsIn(pieces: readonly string[]): number[] {
  const seen: number[] = [];
  const reader = new StampReader();
  for (const piece of pieces) reader.read(Buffer.from(piece), (value) => seen.push(value));
  return seen;
}

test("counts every event once, however the bytes are split", () => {
  const text = `a ${eventStamp(1)} b@c ${eventStamp(234.7)}${eventStamp(999_999_999_999)} end`;
  for (let cut = 0; cut <= text.length; cut++) {
    expect(stampsIn([text.slice(0, cut), text.slice(cut)])).toEqual([1, 234, 999_999_999_999]);
  }
  expect(stampsIn([...text])).toEqual([1, 234, 999_999_999_999]);
});

test("does not read an email address in the text as a timestamp", () => {
  expect(stampsIn(["someone@example.com wrote @12345 and left 000000000000000"])).toEqual([]);
});
