import { expect, test } from "bun:test";
import fc from "fast-check";
import { NameFilter } from "./names.ts";
import { readSpan, type ScanFindings, scanObject } from "./scan.ts";
import { skimArray, skimObject } from "./skim.ts";
import { textAt, walkObjects } from "./walk.ts";

const wanted: ReadonlySet<string> = new Set(["file_id", "source"]);
const dataMembers = ["arguments", "schema"];

/** The wanted members of a text, in any order: the name, `type` and `url` of its value, and the same of its parent object. */
function walked(text: string): string[] {
  const bytes = Buffer.from(text);
  const textOrNull = (at: number) => (at === -1 ? null : textAt(bytes, at));
  const found: string[] = [];
  walkObjects(bytes, wanted, 1_000, ({ name, type, url }, object) => {
    found.push(
      JSON.stringify([name, textOrNull(type), textOrNull(url), textOrNull(object.type), textOrNull(object.url)]),
    );
  });
  return found.sort();
}

/** The same for the parsed value of the text. */
function parsed(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(parsed);
  if (typeof value !== "object" || value === null) return [];
  const textOf = (object: unknown, name: string) => {
    const text = typeof object === "object" && object !== null ? (object as Record<string, unknown>)[name] : null;
    return typeof text === "string" ? text : null;
  };
  return Object.entries(value).flatMap(([name, inner]) => {
    if (dataMembers.includes(name)) return [];
    if (!wanted.has(name)) return parsed(inner);
    const described = [textOf(inner, "type"), textOf(inner, "url"), textOf(value, "type"), textOf(value, "url")];
    return [JSON.stringify([name, ...described]), ...parsed(inner)];
  });
}

test("reports each wanted member with the type and URL of its value and its object", () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<unknown>("a", 'q"\\', "url", 1, null, true),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("file_id", "source", "type", "url", "x", ...dataMembers), tie("value"), {
        maxKeys: 5,
      }),
    ),
  }));
  const object = fc.dictionary(fc.constantFrom("type", "a", "file_id"), value);
  fc.assert(
    fc.property(object, fc.constantFrom(0, 1), (body, indent) => {
      expect(walked(JSON.stringify(body, null, indent))).toEqual(parsed(body).sort());
    }),
    { numRuns: 2_000 },
  );
});

test("uses the last of duplicate members", () => {
  expect(walked('{"type":"a","file_id":"f","typ\\u0065":"b"}')).toEqual(['["file_id",null,null,"b",null]']);
  expect(walked('{"\\u0066ile_id":{"type":"a","type":"b"}}')).toEqual(['["file_id","b",null,null,null]']);
});

test("ends at the first member beyond the limit", () => {
  const bytes = Buffer.from(JSON.stringify([{ file_id: 1 }, { file_id: 2 }, { source: 3 }]));
  let count = 0;
  expect(walkObjects(bytes, wanted, 2, () => count++)).toBe("source");
  expect([count, walkObjects(bytes, wanted, 3, () => undefined)]).toEqual([2, null]);
});

test("readers find the same with and without the ends of long strings", () => {
  const short = fc.constantFrom("a", '","file_id":"no"', "\\", "é");
  const text = fc.oneof(
    short,
    short.map((part) => part.repeat(3_000)),
  );
  const item = fc.record({ type: text, file_id: text, arguments: fc.array(text), text }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(item), text, (items, instructions) => {
      const bytes = Buffer.from(JSON.stringify({ instructions, items }));
      const findings: ScanFindings = { filter: new NameFilter(), classes: 0, longStrings: null };
      const list = scanObject(bytes, new Set(["items"]), null, undefined, findings).get("items");
      if (list === undefined) throw new Error("no items");
      const read = (longStrings: ScanFindings["longStrings"]) => {
        const found: unknown[] = [];
        walkObjects(bytes, wanted, 1_000, ({ start }) => found.push(textAt(bytes, start)), longStrings);
        for (const { start, end } of skimArray(bytes, list, 1_000, longStrings) ?? []) {
          const members = skimObject(bytes, start, end, new Set(["text"]), undefined, longStrings);
          found.push(...[...(members ?? [])].map(([, span]) => readSpan(bytes, span)));
        }
        return found;
      };
      expect(read(findings.longStrings)).toEqual(read(null));
      expect(read(null)).toHaveLength(items.flatMap((one) => [one.file_id, one.text]).filter(Boolean).length);
    }),
    { numRuns: 200 },
  );
});
