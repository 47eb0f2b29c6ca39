import { expect, test } from "bun:test";
import { Slots } from "./slots.ts";

test("a limited number run at once, the next starts when one ends, and aborted ones are skipped", () => {
  const slots = new Slots(2);
  const turns: string[] = [];
  const leave = ["a", "b", "c", "d", "e"].map((name) => slots.take(() => turns.push(name)));
  expect(turns).toEqual(["a", "b"]);
  leave[2]?.();
  leave[0]?.();
  leave[0]?.();
  expect(turns).toEqual(["a", "b", "d"]);
  leave[1]?.();
  leave[3]?.();
  leave[4]?.();
  expect(turns).toEqual(["a", "b", "d", "e"]);
  slots.take(() => turns.push("f"));
  slots.take(() => turns.push("g"));
  slots.take(() => turns.push("h"));
  expect(turns.slice(4)).toEqual(["f", "g"]);
});
