import { expect, test } from "bun:test";
import { slugFault, slugOf } from "./slug-of.ts";

test("the slug of any name is valid", () => {
  const names = ["Acme Robotics & Söhne", "  --Übung--  ", "x".repeat(200), `${"a".repeat(62)} b`, "R&D 2"];
  expect(names.map(slugOf).map(slugFault)).toEqual(names.map(() => null));
  expect(slugOf("Acme Robotics & Söhne")).toBe("acme-robotics-sohne");
});

test("a name without valid characters gives an empty slug", () => {
  expect(slugOf("開発")).toBe("");
  expect(["", "-a", "A", "a_b", "a".repeat(64)].map(slugFault)).not.toContain(null);
});
