import { expect, test } from "bun:test";
import { dropId, dropOrder, dropPlace, dropped } from "./drop-places.ts";
import { added, placedKey, type Steps } from "./steps.ts";

const steps: Steps = ["a", "b"].reduce((before: Steps, provider) => added(before, provider, "m"), []);
const names = (of: Steps) => of.map((step) => step.map((each) => each.provider).join("+")).join(" > ");

test("places stand from top to bottom, a gap around every step", () => {
  expect(dropOrder(2)).toEqual(["gap:0", "step:0", "gap:1", "step:1", "gap:2"]);
});

test("a place is known by its id, and nothing else is a place", () => {
  for (const id of dropOrder(3)) {
    const place = dropPlace(id);
    expect(place === null ? null : dropId(place)).toBe(id);
  }
  expect([dropPlace(""), dropPlace("step:"), dropPlace("gap:-1"), dropPlace('["a","m"]')]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("dropped on a step it shares it, dropped between it stands alone", () => {
  const key = placedKey("b", "m");
  expect(names(dropped(steps, key, { kind: "step", place: 0 }))).toBe("a+b");
  expect(names(dropped(steps, key, { kind: "gap", place: 0 }))).toBe("b > a");
  expect(dropped(steps, key, { kind: "step", place: 1 })).toBe(steps);
});
