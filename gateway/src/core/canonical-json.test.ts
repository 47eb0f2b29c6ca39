import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson } from "./texts.ts";

test("equal values have the same text, which is valid JSON", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const text = canonicalJson(value, 64);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value), 64)).toBe(text);
    }),
  );
  expect(canonicalJson({ b: [1, { d: null, c: "é" }], a: true }, 8)).toBe('{"a":true,"b":[1,{"c":"é","d":null}]}');
});

test("refuses deep nesting, and accepts members of any name", () => {
  const deep = JSON.parse(`${"[".repeat(10)}${"]".repeat(10)}`) as unknown;
  expect(() => canonicalJson(deep, 8)).toThrow("nested too deeply");
  expect(canonicalJson(deep, 9)).toBe(`${"[".repeat(10)}${"]".repeat(10)}`);
  expect(canonicalJson(JSON.parse('{"__proto__":{"x":1}}'), 8)).toBe('{"__proto__":{"x":1}}');
});

/** The same with its members in the other order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, each]) => [name, reversed(each)]),
  );
}
