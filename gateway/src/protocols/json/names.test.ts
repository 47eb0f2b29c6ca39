import { expect, test } from "bun:test";
import fc from "fast-check";
import { mediaNames } from "../request/media.ts";
import { NameFilter } from "./names.ts";
import { type ScanFindings, scanObject } from "./scan.ts";

const looked = ["file_id", "vector_store_ids", "u", ...mediaNames];
const sieve = new NameFilter().add(1, looked).add(2, ["container"]);
const nothing: ReadonlySet<string> = new Set();

function heardIn(text: string): number {
  const matches: ScanFindings = { filter: sieve, classes: 0, longStrings: null };
  scanObject(new TextEncoder().encode(text), nothing, null, undefined, matches);
  return matches.classes;
}

test("matches a wanted name at every depth and in every spelling", () => {
  const spelt = fc.constantFrom(...looked).chain((name) =>
    fc.nat(name.length - 1).map((at) => {
      const spelling = `\\u${name.charCodeAt(at).toString(16).padStart(4, "0")}`;
      return [`"${name}"`, `"${name.slice(0, at)}${spelling}${name.slice(at + 1)}"`];
    }),
  );
  const around = fc.array(fc.constantFrom("object", "array", "neighbours"), { maxLength: 8 });
  fc.assert(
    fc.property(spelt, fc.boolean(), around, fc.jsonValue({ maxDepth: 2 }), (names, escaped, wraps, value) => {
      let text = `{${names[escaped ? 1 : 0]} :${JSON.stringify(value)}}`;
      for (const wrap of wraps) {
        if (wrap === "object") text = `{"role":${text}}`;
        else if (wrap === "array") text = `{"content":[1,${text},"x"]}`;
        else text = `{"a":"b","c":{},"d":${text}}`;
      }
      expect(heardIn(text) & 1).toBe(1);
    }),
    { numRuns: 1_000 },
  );
});

test("does not match texts or common names", () => {
  const tool = {
    type: "function",
    function: {
      name: "read_file",
      description: 'Takes "url" and {"file_id": 1}.',
      strict: true,
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"], items: {}, enum: [] },
    },
  };
  const messages = [
    { role: "system", content: '"data":"url"' },
    { role: "assistant", content: null, tool_calls: [{ id: "1", type: "function", function: { arguments: "{}" } }] },
    { role: "tool", tool_call_id: "1", content: [{ type: "text", text: '{"image_url":{"url":"x"}}' }] },
  ];
  const body = {
    ...{ model: "m", messages, tools: [tool], stream: true, stream_options: { include_usage: true } },
    ...{ temperature: 0.2, max_tokens: 3, metadata: { user_id: "u1" }, tool_choice: "auto", reasoning_effort: "low" },
  };
  expect(heardIn(JSON.stringify(body))).toBe(0);
});

test("gives each class its own bit", () => {
  expect(heardIn('{"a":[{"container":"c"}]}')).toBe(2);
  expect(heardIn('{"container":"c","url":1}')).toBe(3);
});
