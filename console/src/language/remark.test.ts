import { expect, test } from "bun:test";
import { parse } from "@formatjs/icu-messageformat-parser";
import { auditActions, auditTargetKinds, remarkCodes } from "@sluice/contract/words";
import { t } from "./areas/models.ts";
import { en } from "./en/index.ts";
import { models } from "./en/models.ts";
import { holesOf } from "./holes.ts";
import { remarks } from "./remark.ts";
import type { ConsoleTexts } from "./texts.ts";
import { zhCN } from "./zh-CN/index.ts";

type Words = Readonly<Record<string, string>>;
type Codes = Readonly<Record<string, readonly string[]>>;

/** Every list of codes in the contract, and its texts in the console: add new lists here. */
const shown: { readonly [Kind in keyof typeof remarkCodes]: (texts: ConsoleTexts) => Words } = {
  place: ({ requests }) => requests.plan.place,
  step: ({ requests }) => requests.plan.step,
  test: ({ providers }) => providers.test.tried,
  testProblem: ({ providers }) => providers.test.problem,
  testAdvice: ({ providers }) => providers.test.advice,
  importRefusal: ({ providers }) => providers.result.reason,
  simulation: ({ models: words }) => words.simulation.remark,
  taskEvent: ({ tasks }) => tasks.history.note,
  callback: ({ tasks }) => tasks.callbacks.problem,
  rightsRule: ({ rules }) => rules.why,
  alert: ({ alerts }) => alerts.problem,
  attention: ({ attention }) => attention.finding,
};

const without = (names: readonly string[]): Codes => Object.fromEntries(names.map((name) => [name, []]));
const lists: readonly (readonly [name: string, codes: Codes, words: (texts: ConsoleTexts) => Words])[] = [
  ...Object.entries(remarkCodes).map(
    ([kind, codes]) => [kind, codes as Codes, shown[kind as keyof typeof shown]] as const,
  ),
  ["audit action", without(auditActions), ({ audit }) => audit.action],
  ["audit target", without(auditTargetKinds), ({ audit }) => audit.kind],
];

for (const [name, codes, wordsIn] of lists) {
  test(`every code of ${name} has a text in each language, with exactly the parameters of the code`, () => {
    for (const texts of [en, zhCN]) {
      const words = wordsIn(texts);
      expect(Object.keys(words).sort()).toEqual(Object.keys(codes).sort());
      for (const [code, params] of Object.entries(codes)) {
        const placeholders = holesOf(parse(words[code] ?? ""));
        expect(placeholders, code).toEqual(params.map((param) => `{${param}}`).toSorted());
      }
    }
  });
}

test("remarks without a matching text fall back to the gateway's sentence", () => {
  const words = remarks(t, "models.simulation.remark", models.simulation.remark);
  expect(words({ code: "nothing_used", params: {} }, "Nothing.")).toBe(en.models.simulation.remark.nothing_used);
  expect(words({ code: "class_without_price", params: { class: "Output", count: 1_200 } }, "…")).toBe(
    "Output has no price, so 1,200 of it cost nothing here.",
  );
  expect(words({ code: "of_a_newer_gateway", params: {} }, "Something new.")).toBe("Something new.");
  expect(words({ code: "toString" }, "Something else.")).toBe("Something else.");
  expect(words({ code: "class_without_price", params: {} }, "A param is missing.")).toBe("A param is missing.");
  expect(words(undefined, "A sentence alone.")).toBe("A sentence alone.");
});
