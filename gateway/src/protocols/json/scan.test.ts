import { expect, test } from "bun:test";
import fc from "fast-check";
import { leastCpuMs } from "../../../../test/processor-time.ts";
import { NameFilter } from "./names.ts";
import { JsonInvalid, JsonTooLarge, readSpan, type ScanFindings, scanObject } from "./scan.ts";

const encoder = new TextEncoder();
const scan = (text: string, ...wanted: string[]) => scanObject(encoder.encode(text), new Set(wanted));
const valueIn = (text: string, name: string): unknown => {
  const span = scan(text, name).get(name);
  return span === undefined ? undefined : readSpan(encoder.encode(text), span);
};

test("finds top-level members and ignores nested ones", () => {
  const text = '{"a":{"model":"no"},"b":[{"model":"no"}], "model" : "yes" ,"c":"\\"model\\":1"}';
  expect(valueIn(text, "model")).toBe("yes");
});

test("decodes escapes in names", () => {
  expect(valueIn('{"mod\\u0065l":"x"}', "model")).toBe("x");
});

test("rejects a wanted member that occurs twice, even if escaped", () => {
  expect(() => scan('{"model":"a","model":"b"}', "model")).toThrow("appears twice");
  expect(() => scan('{"model":"a","mod\\u0065l":"b"}', "model")).toThrow("appears twice");
  expect(() => scan('{"other":1,"other":2}', "model")).not.toThrow();
});

test("accepts every object that JSON.parse accepts, with the same values", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })),
      fc.constantFrom(0, 1, 3),
      (object, indent) => {
        const text = JSON.stringify(object, null, indent);
        for (const name of Object.keys(object).slice(0, 3)) {
          expect(valueIn(text, name)).toEqual((JSON.parse(text) as Record<string, unknown>)[name]);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test("rejects what JSON.parse rejects", () => {
  const damage = fc.record({
    object: fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    at: fc.nat(),
    remove: fc.nat({ max: 3 }),
    insert: fc.constantFrom(
      "",
      ",",
      '"',
      "{",
      "}",
      "[",
      "]",
      ":",
      "\\",
      "0",
      "-",
      "e",
      ".",
      "\n",
      "\u0001",
      "tru",
      "nul",
    ),
  });
  fc.assert(
    fc.property(damage, ({ object, at, remove, insert }) => {
      const text = JSON.stringify(object);
      const cut = at % (text.length + 1);
      const damaged = text.slice(0, cut) + insert + text.slice(cut + remove);
      expect(accepts(() => scan(damaged, "no such member"))).toBe(accepts(() => parseObject(damaged)));
    }),
    { numRuns: 10_000 },
  );
});

test("checks long strings like short ones", () => {
  const lengths = fc
    .constantFrom(0, 255, 256, 257, 1_279, 1_280, 1_281, 5_376, 70_000)
    .chain((length) => fc.nat({ max: 2 }).map((more) => "aé"[more % 2]?.repeat(length + more) ?? ""));
  const special = fc.constantFrom("", '\\"', "\\n", "\\u00e9", "\\", "\n", "\u0001", '"', "\\x", "\u007f");
  fc.assert(
    fc.property(lengths, special, lengths, special, (first, one, second, other) => {
      const text = `{"a":"${first}${one}${second}${other}","b":1}`;
      expect(accepts(() => scan(text, "b"))).toBe(accepts(() => parseObject(text)));
    }),
    { numRuns: 1_000 },
  );
});

test("returns the ends of the first long strings", () => {
  const long = "x".repeat(3_000);
  const bytes = encoder.encode(JSON.stringify({ a: long, [long]: [`"${long}`, "short"], b: long }));
  const findings: ScanFindings = { filter: new NameFilter(), classes: 0, longStrings: null };
  scanObject(bytes, new Set(), null, undefined, findings);
  const found = [...(findings.longStrings ?? [])].map(([start, end]) => readSpan(bytes, { start, end }));
  expect(found).toEqual([long, `"${long}`, long]);
});

test("bounds nesting without using the call stack", () => {
  const deep = `{"a":${"[".repeat(500_000)}`;
  expect(() => scan(deep, "a")).toThrow("nested too deeply");
});

test("takes linear time", () => {
  const took = (size: number): number => {
    const bytes = encoder.encode(JSON.stringify({ model: "m", text: "a\\b".repeat(size) }));
    return leastCpuMs(() => scanObject(bytes, new Set(["model"])));
  };
  // Sixteen times as much; by the square it would be 256 times as long.
  expect(took(3_200_000)).toBeLessThan(took(200_000) * 64 + 50);
});

function parseObject(text: string): void {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("not an object");
}

function accepts(act: () => void): boolean {
  try {
    act();
    return true;
  } catch (thrown) {
    if (thrown instanceof JsonInvalid || thrown instanceof SyntaxError || thrown instanceof Error) return false;
    throw thrown;
  }
}

test("rejects more values or members than the limits allow", () => {
  const limits = { values: 6, members: 2 };
  const within = (text: string) => scanObject(encoder.encode(text), new Set(), null, limits);
  expect(() => within('{"a":[1,"b",{"c":null}],"d":true}')).not.toThrow();
  for (const text of ['{"a":[1,"b",{"c":null}],"d":[true]}', '{"a":[[],[],[],{},{},{}]}', '{"a":1,"b":2,"c":3}']) {
    expect(() => within(text)).toThrow(JsonTooLarge);
  }
});
