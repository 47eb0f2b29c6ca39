import { expect, test } from "bun:test";
import { dropId, dropOrder, dropPlace, dropped } from "./drop-places.ts";
import { added, type Priorities, placedKey } from "./priorities.ts";

const priorities: Priorities = ["a", "b"].reduce((before: Priorities, provider) => added(before, provider, "m"), []);
const names = (of: Priorities) => of.map((priority) => priority.map((each) => each.provider).join("+")).join(" > ");

test("drop places go from top to bottom, with a gap around every priority", () => {
  expect(dropOrder(2)).toEqual(["gap:0", "priority:0", "gap:1", "priority:1", "gap:2"]);
});

test("a drop place is found by its ID", () => {
  for (const id of dropOrder(3)) {
    const place = dropPlace(id);
    expect(place === null ? null : dropId(place)).toBe(id);
  }
  expect([dropPlace(""), dropPlace("priority:"), dropPlace("gap:-1"), dropPlace('["a","m"]')]).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

test("dropping on a priority shares it, dropping between creates a new one", () => {
  const key = placedKey("b", "m");
  expect(names(dropped(priorities, key, { kind: "priority", place: 0 }))).toBe("a+b");
  expect(names(dropped(priorities, key, { kind: "gap", place: 0 }))).toBe("b > a");
  expect(dropped(priorities, key, { kind: "priority", place: 1 })).toBe(priorities);
});
