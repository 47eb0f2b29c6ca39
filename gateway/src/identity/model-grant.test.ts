import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { leastCpuMs } from "../../../test/processor-time.ts";
import { matches, matchingPattern } from "./model-grant.ts";

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

  test("matches a name without a star exactly, with any characters", () => {
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

  test("matches any text where the pattern has a star", () => {
    const plain = fc.string().filter((text) => !text.includes("*"));
    fc.assert(
      fc.property(plain, plain, plain, (head, middle, tail) => {
        expect(matches([`${head}*${tail}`], head + middle + tail)).toBe(true);
      }),
    );
  });

  test("matches like a regular expression, for stars at any position", () => {
    const patterns = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    const names = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
    fc.assert(
      fc.property(fc.array(patterns, { maxLength: 3 }), names, (patterns, name) => {
        const expected = patterns.filter((each) => new RegExp(`^${each.replaceAll(/\*+/g, ".*")}$`).test(name));
        expect(matches(patterns, name)).toBe(expected.length > 0);
        expect(matchingPattern(patterns, name)).toBe(expected[0] ?? null);
      }),
      { numRuns: 2_000 },
    );
  });

  test("matches in linear time, for any patterns and names", () => {
    const patterns = Array.from({ length: 1_000 }, (_, n) => `${"*a".repeat(120)}*b${n}`);
    const cpuMs = leastCpuMs(() => expect(matches(patterns, "a".repeat(256))).toBe(false));
    // A backtracking regular expression would never finish.
    expect(cpuMs).toBeLessThan(1_000);
  });
});
