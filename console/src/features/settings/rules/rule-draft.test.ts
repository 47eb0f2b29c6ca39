import { expect, test } from "bun:test";
import { consoleRoutes } from "@sluice/contract";
import { ruleFault } from "@sluice/contract/words";
import {
  conditionWords,
  draftOf,
  faultsOf,
  grantWords,
  moved,
  namesOfRules,
  newRule,
  type Rule,
  ruleAt,
  rulesOf,
} from "./rule-draft.ts";

const rules: readonly Rule[] = [
  { name: "contractors", claim: "groups", contains: "contractors", workspace: "acme", role: "viewer" },
  { claim: "groups", matches: "eng-*", workspace: "acme", role: "member", group: "gold" },
  { claim: "department", one_of: ["Platform", "SRE"], workspace: "acme", group: "gold" },
  { claim: "level", equals: "7", administrator: true },
];

test("rules go through the form unchanged", () => {
  expect(rulesOf(rules.map(draftOf))).toEqual([...rules]);
  expect(faultsOf(rules.map(draftOf))).toEqual({});
});

test("the form accepts exactly the rules that the gateway accepts", () => {
  const body = consoleRoutes["rights.putRules"].body;
  const whole = draftOf(rules[1] as Rule, 1);
  const some = [
    whole,
    newRule(2),
    { ...whole, claim: " " },
    { ...whole, value: "" },
    { ...whole, kind: "one_of" as const },
    { ...whole, kind: "one_of" as const, values: ["a"] },
    { ...whole, workspace: "" },
    { ...whole, role: null },
    { ...whole, role: null, group: " " },
    { ...whole, workspace: "", administrator: true },
  ];
  for (const draft of some) {
    const parsed = body?.safeParse({ rules: rulesOf([draft]) });
    const result = parsed?.success === true && parsed.data.rules.every((rule) => ruleFault(rule) === null);
    expect(Object.keys(faultsOf([draft])).length === 0, JSON.stringify(draft)).toBe(result);
  }
});

test("an error is assigned to its rule by position, and rules move one position", () => {
  const drafts = rules.map(draftOf);
  expect(Object.keys(faultsOf([...drafts, newRule(9)])).map(ruleAt)).toEqual([4, 4, 4]);
  expect([ruleAt("rules.12"), ruleAt("rules"), ruleAt("claims.0"), ruleAt(null)]).toEqual([12, null, null, null]);
  expect(moved(drafts, 2, 1).map(({ key }) => key)).toEqual([0, 2, 1, 3]);
  expect(moved(drafts, 0, 1).map(({ key }) => key)).toEqual([1, 0, 2, 3]);
});

test("a rule is summarized in one sentence", () => {
  const result = rules.map(draftOf).map((draft) => `${conditionWords(draft)} → ${grantWords(draft)}`);
  expect(result).toEqual([
    "groups contains contractors → acme: Viewer",
    "groups matches eng-* → acme: Member, group gold",
    "department is one of Platform, SRE → acme: group gold",
    "level is 7 → Administrator",
  ]);
  expect(namesOfRules("contractors, rule 2")).toBe("contractors, rule 2");
});
