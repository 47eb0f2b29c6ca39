import { expect, test } from "bun:test";
import { readNames, writeNames } from "./name-list.ts";

test("names are separated by commas, also names that contain one", () => {
  expect(writeNames(["a", "b"])).toBe("a,b");
  for (const names of [[], ["a"], ["a,b", "c"], ["50%2C", "50%", "%25"]]) {
    expect(readNames(writeNames(names), 4)).toEqual(names);
  }
});

test("a repeated or empty name and names over the maximum are left out", () => {
  expect(readNames("a,,b,a,c,d", 3)).toEqual(["a", "b", "c"]);
});
