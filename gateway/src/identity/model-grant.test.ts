import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { matches } from "./model-grant.ts";

describe("a list of model patterns", () => {
  test.each([
    [["*"], "anything/at all", true],
    [["gpt-*"], "gpt-5", true],
    [["gpt-*"], "my-gpt-5", false],
    [["gpt-5"], "gpt-5-mini", false],
    [["*-mini", "claude-*"], "claude-opus", true],
    [["a*c"], "abbbc", true],
    [["a.c"], "abc", false],
    [[], "gpt-5", false],
    [["vendor/*"], "vendor/family/model", true],
  ])("%j on %s: %p", (patterns, model, expected) => {
    expect(matches(patterns, model)).toBe(expected);
  });

  test("without a star means exactly that name, whatever characters it holds", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }).filter((name) => !name.includes("*")),
        fc.string(),
        (name, other) => {
          expect(matches([name], name)).toBe(true);
          expect(matches([name], other)).toBe(name === other);
        },
      ),
    );
  });

  test("with a star lets any text stand for it", () => {
    const plain = fc.string().filter((text) => !text.includes("*"));
    fc.assert(
      fc.property(plain, plain, plain, (head, middle, tail) => {
        expect(matches([`${head}*${tail}`], head + middle + tail)).toBe(true);
      }),
    );
  });
});
