// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is the notation under test
import { expect, test } from "bun:test";
import { ConfigInvalid } from "./config-invalid.ts";
import { parseConfig } from "./parse-config.ts";

test("converts a variable to the number or boolean that the schema expects, else keeps the string", () => {
  const text =
    'workspaces: [{ slug: "1", name: "${N}", enabled: "${ON}", limits: { rpm: "${N}" }, budget: { usd: "${USD}", period: month } }]';
  const config = parseConfig(text, "c.yaml", { N: "600", ON: "false", USD: "2.50" });
  expect(config.workspaces?.[0]).toMatchObject({
    name: "600",
    enabled: false,
    limits: { rpm: 600 },
    budget: { usd: 2.5 },
  });
  const wrong = () => parseConfig(text, "c.yaml", { N: "many", ON: "no", USD: "2.50" });
  expect(wrong).toThrow(
    "enabled: must be true or false, not a string (the value comes from ${ON}) (and 1 more problem)",
  );
  // A number that the file itself quotes is still invalid.
  expect(() => parseConfig('workspaces: [{ slug: a, limits: { rpm: "600" } }]', "c.yaml", {})).toThrow("not a string");
});

test("ignores top-level x- fields, and refuses them elsewhere", () => {
  const text = "x-limits: &limits { rpm: 5 }\nx-more: ${NOT_SET}\nworkspaces: [{ slug: acme, limits: *limits }]";
  expect(parseConfig(text, "c.yaml", {})).toEqual({ workspaces: [{ slug: "acme", limits: { rpm: 5 } }] });
  expect(() => parseConfig("workspaces: [{ slug: acme, x-a: 1 }]", "c.yaml", {})).toThrow("unknown field `x-a`");
});

test("reports each problem of a place once", () => {
  const problemsOf = (text: string): readonly string[] => {
    try {
      parseConfig(text, "c.yaml", {});
      return [];
    } catch (thrown) {
      if (!(thrown instanceof ConfigInvalid)) throw thrown;
      return thrown.problems.map(({ line, message }) => `${line} ${message}`);
    }
  };
  const indent = "the indentation does not match the lines above, or a bracket above is not closed";
  expect(problemsOf("workspaces:\n  - slug: a\n    keys: [[\nfoo: 1\n")).toContain(`4 ${indent}`);
  expect(new Set(problemsOf("workspaces:\n  - slug: a\n    keys: [[\nfoo: 1\n")).size).toBe(
    problemsOf("workspaces:\n  - slug: a\n    keys: [[\nfoo: 1\n").length,
  );
  expect(problemsOf("workspaces: [{ slug: a, limits: { rpm: 99999999999999999999 } }]")).toEqual([
    "1 must be at most 1000000000000",
  ]);
  expect(problemsOf("providers: [{ id: a, kind: demo, api_key: '${KEY:-none}' }]")).toEqual([
    "1 defaults and other operators (`:-`, `:?` …) are not supported; write `${NAME}` and set the variable for the gateway",
  ]);
});
