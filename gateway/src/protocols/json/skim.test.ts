import { expect, test } from "bun:test";
import fc from "fast-check";
import { leastCpuMs } from "../../../../test/processor-time.ts";
import { readSpan } from "./scan.ts";
import { skimArray, skimObject } from "./skim.ts";

const encoder = new TextEncoder();

const json = (value: unknown, indent: number): Uint8Array => encoder.encode(JSON.stringify(value, null, indent));

test("finds the same members and values as parsing", () => {
  const value = fc.dictionary(
    fc.string({ unit: "binary" }).filter((name) => name !== "__proto__"),
    fc.jsonValue({ maxDepth: 4, stringUnit: "binary" }),
  );
  fc.assert(
    fc.property(value, fc.constantFrom(0, 2), fc.string({ maxLength: 5 }), (object, indent, around) => {
      const inner = json(object, indent);
      const before = encoder.encode(around);
      const bytes = new Uint8Array([...before, ...inner, ...before]);
      const members = skimObject(bytes, before.length, before.length + inner.length, new Set(Object.keys(object)));
      const read = Object.fromEntries([...(members ?? [])].map(([name, span]) => [name, readSpan(bytes, span)]));
      expect(read).toEqual(JSON.parse(JSON.stringify(object)));
    }),
    { numRuns: 500 },
  );
});

test("finds the items of an array up to the limit", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 6 }), fc.constantFrom(0, 1), (items, indent) => {
      const bytes = json(items, indent);
      const spans = skimArray(bytes, { start: 0, end: bytes.length }, 6);
      expect(spans?.map((span) => readSpan(bytes, span))).toEqual(JSON.parse(JSON.stringify(items)));
      if (items.length > 1) expect(skimArray(bytes, { start: 0, end: bytes.length }, items.length - 1)).toBeNull();
    }),
    { numRuns: 300 },
  );
});

test("returns null for a truncated object", () => {
  const whole = json({ data: [{ b64_json: 'a"\\' }], usage: { n: 1 }, done: true }, 0);
  for (let size = 0; size < whole.length; size++) {
    expect(skimObject(whole, 0, size, new Set(["usage"]))).toBeNull();
  }
  expect(skimObject(whole, 0, whole.length, new Set(["usage"]))?.size).toBe(1);
});

test.each(["[]", "1", '{"a":1}x', '{"a":}', '{"a" 1}', "{a:1}", '{"a":1,}', '{"a":1 "b":2}', ""])(
  "returns null for %j",
  (text) => {
    const bytes = encoder.encode(text);
    expect(skimObject(bytes, 0, bytes.length, new Set(["a"]))).toBeNull();
  },
);

test("skips a picture of sixteen megabytes quickly", () => {
  const bytes = encoder.encode(`{"b64_json":"${"A".repeat(16_000_000)}","usage":{}}`);
  const everyByteMs = leastCpuMs(() => bytes.reduce((sum, byte) => sum + byte, 0), 2);
  const cpuMs = leastCpuMs(() =>
    expect(skimObject(bytes, 0, bytes.length, new Set(["usage"]))?.has("usage")).toBe(true),
  );
  expect(cpuMs).toBeLessThan(everyByteMs / 2);
});
