import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { createDetector, patternProblem } from "./index.ts";

const find = (regex: string, text: string): readonly string[] =>
  createDetector({ kind: "patterns", patterns: [{ name: "p", regex }] })
    .find(text)
    .map(({ start, end }) => text.slice(start, end));

const pendingFrom = (regex: string, text: string): number =>
  createDetector({ kind: "patterns", patterns: [{ name: "p", regex }] }).pendingFrom(text);

test("finds matches of several patterns in order, the first pattern at the same place", () => {
  const detector = createDetector({
    kind: "patterns",
    patterns: [
      { name: "employee", regex: "\\bEMP\\d{6}\\b" },
      { name: "project", regex: "(?i)project-\\w+" },
      { name: "any", regex: "EMP\\d+" },
    ],
  });
  expect(detector.find("Project-X by EMP123456, EMP7")).toEqual([
    { start: 0, end: 9, type: "project" },
    { start: 13, end: 22, type: "employee" },
    { start: 24, end: 28, type: "any" },
  ]);
});

test("offsets count UTF-16 units", () => {
  expect(find("秘密\\d+", "😀 秘密42 😀")).toEqual(["秘密42"]);
});

test("takes linear time where a backtracking engine does not end", () => {
  expect(find("^(?:(?:a+)+b|a*!)$", `${"a".repeat(5_000)}!`)).toHaveLength(1);
  expect(find("(?:a|aa)+$", `${"a".repeat(5_000)}b`)).toEqual([]);
});

test("fails for a text with too many matches", () => {
  expect(() => find("a", "a".repeat(10_001))).toThrow("more than 10000 matches");
});

test.each([
  ["(?=a)", "invalid or unsupported Perl syntax"],
  ["(a)\\1", "invalid escape sequence"],
  ["a{2000}", "invalid repeat count"],
  ["(", "missing closing )"],
  ["a*", "matches an empty text"],
  ["", "is empty"],
  ["a".repeat(1_001), "longer than 1000 characters"],
])("names the problem of a pattern: %s", (pattern, problem) => {
  expect(patternProblem(pattern)).toContain(problem);
});

test("a pattern that cannot be compiled makes no detector", () => {
  expect(() => find("(", "a")).toThrow("missing closing )");
});

describe("a stream holds back what may become a match", () => {
  test.each([
    ["EMP\\d{6}", "by EMP12", 3],
    ["EMP\\d{6}", "by EMP123456 and", 16],
    ["EMP\\d{6}", "by EMPTY", 8],
    ["\\bEMP\\d+\\b", "by EMP1", 3],
    ["(?i:secret)-x", "a SECRE", 2],
    ["(?i)ab|cd", "x C", 2],
    ["(?:ab){3,}c", "ababab", 0],
    ["x(?:ab|cd)*y", "--xabc", 2],
    ["[[:alpha:]\\]]+-\\d", "1a]b-", 1],
    ["\\Qa.b\\E+", "a.", 0],
    ["\\pL{3}\\x{4E2D}", "1ab", 1],
    ["a{0}b", "a", 1],
    ["foo$", "foo", 0],
    ["(?s).x", "ab", 1],
  ])("%s in %s", (regex, text, pending) => {
    expect(patternProblem(regex)).toBeNull();
    expect(pendingFrom(regex, text)).toBe(pending);
  });

  test("each beginning of each match", () => {
    const atom = fc.constantFrom("a", "b", ".", "[ab]", "\\w", "(?:ab|b)", "(a|bb)c", "\\b", "^");
    const item = fc
      .tuple(atom, fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "+?"))
      .map(([one, repeat]) => (one === "\\b" || one === "^" ? one : one + repeat));
    const regexes = fc.array(fc.array(item, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 });
    const texts = fc.array(fc.constantFrom("a", "b", "c", " "), { maxLength: 12 });
    fc.assert(
      fc.property(regexes, texts, (branches, characters) => {
        const regex = branches.map((items) => items.join("")).join("|");
        const text = characters.join("");
        fc.pre(patternProblem(regex) === null);
        const detector = createDetector({ kind: "patterns", patterns: [{ name: "p", regex }] });
        for (const { start, end } of detector.find(text)) {
          for (let at = start + 1; at < end; at++)
            expect(detector.pendingFrom(text.slice(0, at))).toBeLessThanOrEqual(start);
        }
      }),
      { numRuns: 200 },
    );
  });
});
