import { expect, test } from "bun:test";
import type { TurnMessage, TurnPart } from "#core/index.ts";
import { alternateTurns } from "./alternation.ts";
import { textPart } from "./parts.ts";

const call = (id: string): TurnPart => ({
  kind: "tool-call",
  id,
  name: "f",
  argumentsText: "{}",
  seal: null,
  cache: null,
});
const result = (callId: string, text: string): TurnPart => ({
  ...{ kind: "tool-result", callId, name: "f", parts: [textPart(text)], isError: false, cache: null },
});

function sidesOf(messages: readonly TurnMessage[], answersLast = true) {
  const warnings: string[] = [];
  const write = (part: TurnPart) => [part.kind === "text" ? part.text : part.kind];
  const warn = (what: string) => void warnings.push(what);
  const sides = alternateTurns(messages, write, { answersLast, warn });
  const answered = sides.map(({ role, answers, pieces }) => ({
    role,
    answers: answers.map(([{ id }, found]) => [id, found?.parts]),
    pieces,
  }));
  return { sides: answered, warnings };
}

test("moves a late result after its call", () => {
  const { sides, warnings } = sidesOf([
    { role: "user", parts: [textPart("go")] },
    { role: "assistant", parts: [call("a")] },
    { role: "user", parts: [textPart("wait")] },
    { role: "assistant", parts: [textPart("I wait")] },
    { role: "user", parts: [result("a", "done")] },
  ]);
  expect(sides).toEqual([
    { role: "user", answers: [], pieces: ["go"] },
    { role: "assistant", answers: [], pieces: ["tool-call"] },
    { role: "user", answers: [["a", [textPart("done")]]], pieces: ["wait"] },
    { role: "assistant", answers: [], pieces: ["I wait"] },
  ]);
  expect(warnings).toEqual([]);
});

test("matches a result with the earliest open call of its id", () => {
  const { sides } = sidesOf([
    { role: "assistant", parts: [call("a")] },
    { role: "user", parts: [result("a", "one")] },
    { role: "assistant", parts: [call("a")] },
    { role: "user", parts: [result("a", "two"), result("a", "three")] },
  ]);
  expect(sides.flatMap(({ answers }) => answers)).toEqual([
    ["a", [textPart("one")]],
    ["a", [textPart("two")]],
  ]);
  expect(sides.at(-1)?.pieces).toEqual(["Result of f: three"]);
});

test("fills in results for calls at the end only if requested", () => {
  const messages: readonly TurnMessage[] = [
    { role: "user", parts: [textPart("go")] },
    { role: "assistant", parts: [call("a")] },
  ];
  expect(sidesOf(messages).sides).toHaveLength(3);
  expect(sidesOf(messages, false)).toMatchObject({ sides: { length: 2 }, warnings: [] });
});
