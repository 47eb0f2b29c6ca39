import { expect, test } from "bun:test";
import { FieldLines } from "./field-lines.ts";

function lineOf(lines: FieldLines, name: string, value: string): string {
  const parts: string[] = [];
  lines.add(parts, name, value);
  return parts.join("");
}

test("writes each field except for the connection's own and invalid ones", () => {
  const refused: string[] = [];
  const lines = new FieldLines(
    (name) => name === "host",
    (problem) => void refused.push(problem),
  );
  const written = (["one", "one", "two", "", "a\nb", "two"] as const).map((value) => lineOf(lines, "x-name", value));
  expect(written).toEqual(
    ["one", "one", "two", "", "a\nb", "two"].map((v) => (v === "a\nb" ? "" : `\r\nx-name: ${v}`)),
  );
  expect([lineOf(lines, "host", "a"), lineOf(lines, "host", "b"), lineOf(lines, "bad name", "a")]).toEqual([
    "",
    "",
    "",
  ]);
  expect(refused).toEqual(["value", "name"]);
});

test("refuses an invalid name each time", () => {
  const lines = new FieldLines(
    () => false,
    (problem) => {
      throw new Error(problem);
    },
  );
  for (let turn = 0; turn < 2; turn++) {
    expect(() => lineOf(lines, "bad name", "a")).toThrow("name");
    expect(() => lineOf(lines, "x-name", "a\nb")).toThrow("value");
  }
  expect(lineOf(lines, "x-name", "a")).toBe("\r\nx-name: a");
});
