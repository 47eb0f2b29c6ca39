import { expect, test } from "bun:test";
import fc from "fast-check";
import { editBody } from "./edit.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (body: Uint8Array): string => new TextDecoder().decode(body);

test.each([
  ['{"model":"m","stream":true,"max_tokens":1}', '{"max_tokens":1}'],
  ['{"max_tokens":1,"model":"m","stream":true}', '{"max_tokens":1}'],
  ['{"model":"m" , "a":1, "stream":true }', '{ "a":1 }'],
  ['{ "stream" : true , "model" : "m" }', "{ }"],
  ['{"a":[{"model":"inner"}],"mod\\u0065l":"m"}', '{"a":[{"model":"inner"}]}'],
  ["{}", "{}"],
])("removes members from %s and changes nothing else", (body, expected) => {
  expect(text(editBody(bytes(body), { remove: ["model", "stream"] }))).toBe(expected);
});

test.each([
  ["{}", '{"v":"1"}'],
  ['{"model":"m"}', '{"v":"1"}'],
  ['{"a":1}', '{"v":"1","a":1}'],
  ['{"model":"m","v":"old","a":1}', '{"v":"1","a":1}'],
])("adds a member at the front of %s, replacing one of the same name", (body, expected) => {
  expect(text(editBody(bytes(body), { remove: ["model"], add: { v: '"1"' } }))).toBe(expected);
});

test("renames a member if the new name is free", () => {
  const rename = { old: "new" };
  expect(text(editBody(bytes('{"old" : 5,"x":"old"}'), { rename }))).toBe('{"new" : 5,"x":"old"}');
  expect(text(editBody(bytes('{"old":5,"new":6}'), { rename }))).toBe('{"old":5,"new":6}');
});

test("returns bytes that are not an object unchanged", () => {
  expect(text(editBody(bytes('{"model":'), { remove: ["model"] }))).toBe('{"model":');
});

test("edits any object as if it were parsed", () => {
  const name = fc.constantFrom("model", "stream", "a", "b", 'quote"d', "v");
  const space = fc.constantFrom("", " ", "\n ");
  const member = fc.tuple(name, fc.jsonValue({ maxDepth: 2 }), space, space);
  fc.assert(
    fc.property(fc.uniqueArray(member, { selector: ([key]) => key, maxLength: 6 }), (members) => {
      const json = members.map(([key, value, before, after]) => {
        return `${before}${JSON.stringify(key)}${after}:${before}${JSON.stringify(value)}${after}`;
      });
      const edited = editBody(bytes(`{${json.join(",")}}`), {
        remove: ["model", "stream"],
        add: { v: "[1]" },
        rename: { a: "b" },
      });
      const wanted = new Map<string, unknown>([["v", [1]]]);
      const names = new Set(members.map(([key]) => key));
      for (const [key, value] of members) {
        if (key === "model" || key === "stream" || key === "v") continue;
        wanted.set(key === "a" && !names.has("b") ? "b" : key, value);
      }
      // Through JSON, since it knows no difference between 0 and -0.
      expect(JSON.parse(text(edited))).toEqual(JSON.parse(JSON.stringify(Object.fromEntries(wanted))));
    }),
  );
});
