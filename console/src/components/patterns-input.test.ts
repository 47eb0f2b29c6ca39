import { expect, test } from "bun:test";
import { matches } from "./patterns-input.tsx";

test("a pattern matches the same names as in the gateway", () => {
  const cases: [string, string, boolean][] = [
    ["*", "anything/at-all", true],
    ["gpt-5", "gpt-5", true],
    ["gpt-5", "gpt-5-mini", false],
    ["gpt-*", "gpt-5-mini", true],
    ["*-mini", "gpt-5-mini", true],
    ["a*b*c", "aXbYc", true],
    ["a*b*c", "acb", false],
    ["ab*ba", "aba", false],
    ["a*a*a", "aa", false],
    ["gpt.5", "gpt-5", false],
  ];
  for (const [pattern, name, expected] of cases) expect(matches(pattern, name), `${pattern} ${name}`).toBe(expected);
});
