import { describe, expect, test } from "bun:test";
import { personalDataTypes } from "@sluice/contract/words";
import fc from "fast-check";
import type { Guardrail, LocatingCheck } from "#core/index.ts";
import { between, fragments, writers } from "../../../test/guardrails/sample-texts.ts";
import { inspectBody } from "../inspect-body.ts";
import { createDetector, filterOf } from "./index.ts";

function guardrail(check: LocatingCheck): Guardrail {
  return {
    ...{ id: "grl_1", name: "keys", workspaceId: null, workspaces: [], groups: [], keys: [], on: ["input"], at: null },
    ...{ check, action: "flag", onError: "block", unreadable: "pass", stream: "window", timeoutMs: 1, enforce: true },
  };
}

/** Findings by type, of a plain search. */
function searched(check: LocatingCheck, ...texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) {
    for (const { type } of createDetector(check).find(text)) counts[type] = (counts[type] ?? 0) + 1;
  }
  return counts;
}

function inspected(check: LocatingCheck, json: string): Record<string, number> {
  const ask = { dialect: "openai-chat", side: "input", guardrails: [guardrail(check)], placeholders: [] } as const;
  return Object.fromEntries(inspectBody(Buffer.from(json), ask).tallies[0]?.counts ?? []);
}

const checks: readonly LocatingCheck[] = [
  { kind: "credentials" },
  { kind: "personal_data", types: personalDataTypes },
  { kind: "personal_data", types: ["email"] },
  { kind: "personal_data", types: ["ip_address", "iban"] },
];
const samples = [...fragments.credentials, ...fragments.personal_data];

function fullWidth(char: string): string {
  return String.fromCharCode(char.charCodeAt(0) + 0xfee0);
}

/** Whole samples, their parts, and samples with changed characters. */
const piece = fc.oneof(
  fc.constantFrom(...samples),
  fc.constantFrom(...between),
  fc
    .tuple(fc.constantFrom(...samples), fc.nat(80), fc.nat(80))
    .map(([sample, from, length]) => sample.slice(from % sample.length, (from % sample.length) + length)),
  fc
    .tuple(
      fc.constantFrom(...samples),
      fc.nat(80),
      fc.constantFrom(...'\\"/\n\t\0 -.:@（）：．＠１Ａ　٣\u200d\ufeffſé的', "\ud83d", "\ude00"),
    )
    .map(([sample, at, char]) => sample.slice(0, at % sample.length) + char + sample.slice((at % sample.length) + 1)),
  fc
    .tuple(fc.constantFrom(...samples), fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }))
    .map(([sample, wide]) =>
      sample.replace(/[!-~]/g, (char, at: number) => (wide[at % wide.length] ? fullWidth(char) : char)),
    ),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const texts = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));

describe.each(checks)("%p", (check) => {
  test("finds in any written form of a text what a search of the text finds", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...writers), (text, write) => {
        const body = `{"messages":[{"role":"user","content":"${write(text)}"}]}`;
        // UTF-8 has no single surrogates.
        expect(inspected(check, body)).toEqual(
          searched(check, JSON.parse(Buffer.from(body).toString()).messages[0].content),
        );
      }),
      { numRuns: 4_000 },
    );
  });

  test("finds the same in the arguments of tools, which are JSON in a string", () => {
    fc.assert(
      fc.property(texts, fc.constantFrom(...writers), fc.constantFrom(...writers), (text, inner, outer) => {
        const written = outer(`{"a":"${inner(text)}"}`);
        const call = `{"id":"c","type":"function","function":{"name":"f","arguments":"${written}"}}`;
        const body = `{"messages":[{"role":"assistant","tool_calls":[${call}]}]}`;
        const { a } = JSON.parse(JSON.parse(Buffer.from(`"${written}"`).toString()));
        expect(inspected(check, body)).toEqual(searched(check, `{"a":"${a}"}`));
      }),
      { numRuns: 4_000 },
    );
  });
});

const everything = filterOf([{ kind: "credentials" }, { kind: "personal_data", types: personalDataTypes }]);

test.each([
  "Please review the report of 12.5 % growth in March 2026 (page 14), at 14:30, and answer in 3 sentences.",
  "| north | +12.5 |\n|-------|------|\n\n## Result: 7 of 10\n- see https://example.com/a/b?c=1 for more",
  "请在2026年3月之前（第14页）写一份报告：增长12.5%，谢谢！",
  "const total = items.map((item) => item.price * 1.19).filter(Boolean);",
])("needs no search of ordinary text: %p", (text) => {
  const bytes = Buffer.from(JSON.stringify(text));
  expect(everything?.(bytes, 1, bytes.length - 1, 1)).toBe(false);
});

test("is not used where a check has to see every text", () => {
  const words: LocatingCheck = { kind: "words", words: ["a"], wholeWords: true, ignoreCase: false };
  expect(filterOf([{ kind: "credentials" }, words])).toBeNull();
});
