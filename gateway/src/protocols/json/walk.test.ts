import { expect, test } from "bun:test";
import fc from "fast-check";
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
