import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Seal } from "#core/index.ts";
import { readSignature, readToolName, writeSignature, writeToolName } from "./encodings.ts";

describe("tool names for Gemini", () => {
  test("keeps a name that Gemini accepts", () => {
    for (const name of ["get_weather", "mcp__files__read-all", "_x", "a.b:c"]) expect(writeToolName(name)).toBe(name);
  });

  test("encodes other names so that they can be restored", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 12 }), (name) => {
        const written = writeToolName(name);
        expect(written).toMatch(/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/);
        expect(readToolName(written)).toBe(name);
      }),
      { numRuns: 500 },
    );
    for (const name of ["7zip", "-x", "_.2f.", "näme/with space"]) expect(readToolName(writeToolName(name))).toBe(name);
  });

  test("rejects a name that is too long", () => {
    expect(() => writeToolName("x".repeat(129))).toThrow("128");
  });
});

describe("a seal in a thoughtSignature", () => {
  const seal = fc.record({
    dialect: fc.constantFrom("openai-responses", "anthropic-messages" as const),
    account: fc.option(fc.string()),
    data: fc.string({ unit: "grapheme" }),
    itemId: fc.option(fc.string()),
  }) as fc.Arbitrary<Seal>;

  test("encodes another vendor's seal as base64 and reads it back", () => {
    fc.assert(
      fc.property(seal, fc.boolean(), (one, redacted) => {
        const written = writeSignature(one, redacted);
        expect(written).toMatch(/^[A-Za-z0-9+/]+=*$/);
        expect(Buffer.from(written, "base64").toString("base64")).toBe(written);
        expect(readSignature(written)).toEqual({ seal: one, redacted });
      }),
    );
  });

  test("keeps Gemini's signature unchanged", () => {
    fc.assert(
      fc.property(fc.base64String({ minLength: 4 }), (data) => {
        const own: Seal = { dialect: "gemini", account: null, itemId: null, data };
        expect(writeSignature(own)).toBe(data);
        expect(readSignature(data)).toEqual({ seal: own, redacted: false });
      }),
    );
  });
});
