import { describe, expect, test } from "bun:test";
import { toolSchema } from "./schemas.ts";

const closed = { type: "object", additionalProperties: false };
const text = { type: "string" };

describe("a strict tool for OpenAI's dialects", () => {
  const written = (parameters: Record<string, unknown> | null, strict: boolean | null = true) => {
    const warnings: string[] = [];
    return { ...toolSchema({ parameters, strict }, (what) => warnings.push(what)), warnings };
  };

  test("stays strict if OpenAI supports its schema", () => {
    for (const parameters of [
      null,
      { ...closed, properties: { a: text, b: { type: ["string", "null"] } }, required: ["a", "b"] },
      { ...closed, properties: { format: { ...text, format: "date" } }, required: ["format"] },
    ]) {
      expect(written(parameters)).toMatchObject({ strict: true, warnings: [] });
    }
  });

  // Anthropic takes these; OpenAI refuses the whole request: "'required' is required to be … including every key in properties".
  test.each([
    ["a property that is not required", { ...closed, properties: { a: text, b: text }, required: ["a"] }],
    ["an object with additional properties", { type: "object", properties: { a: text }, required: ["a"] }],
    [
      "one of these in a nested object",
      { ...closed, properties: { a: { ...closed, properties: { b: text } } }, required: ["a"] },
    ],
    ["an unsupported format", { ...closed, properties: { a: { ...text, format: "uri" } }, required: ["a"] }],
    ["allOf", { ...closed, properties: { a: { allOf: [text] } }, required: ["a"] }],
  ])("is not strict with %s, with a warning", (_, parameters) => {
    expect(written(parameters)).toEqual({ parameters, strict: false, warnings: [expect.stringContaining("strict")] });
  });

  test("causes no warning if strict was not set", () => {
    const parameters = { type: "object", properties: { a: text } };
    expect(written(parameters, null)).toEqual({ parameters, strict: null, warnings: [] });
  });
});
