import { expect, test } from "bun:test";
import { csvText } from "./csv.ts";

test("names are escaped as text for spreadsheets", () => {
  for (const [name, field] of [
    ['=HYPERLINK("x")', `"'=HYPERLINK(""x"")"`],
    ["a,b", '"a,b"'],
    ["@x", "'@x"],
    ["two\nlines", '"two\nlines"'],
  ] as const) {
    expect(csvText(["name"], [{ name }])).toBe(`name\n${field}\n`);
  }
});
