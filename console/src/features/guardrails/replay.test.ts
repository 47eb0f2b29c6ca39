import { expect, test } from "bun:test";
import type { GuardrailReplay } from "@sluice/contract";
import { mergeReplays, progressOf, stoppedIn } from "./replay.ts";

const side = { examined: 2, blocked: 1, masked: 0, flagged: 0, unreadable: 0, cut: 0, redacted: 0, failed: 0 };
const person = (id: string) => ({ id, email: `${id}@example.com`, name: id });

function replay(more: Partial<GuardrailReplay>): GuardrailReplay {
  return {
    ...{ from: 0, to: 100, not_run: null, calls: null, captured: 2, found: 2, input: side, output: side },
    ...{ types: [], people: [], keys: [], requests: [], read_until: 50, next: null },
    ...more,
  };
}

test("parts of a time are added up, and a person in both counts once", () => {
  const first = replay({ calls: 9, people: [{ person: person("mia"), requests: 2 }], next: "cursor" });
  const more = replay({
    people: [
      { person: person("max"), requests: 3 },
      { person: person("mia"), requests: 2 },
    ],
    read_until: 0,
  });
  const both = mergeReplays(first, more);
  expect(both).toMatchObject({ calls: 9, captured: 4, found: 4, next: null, input: { examined: 4, blocked: 2 } });
  expect(both.people.map(({ person: { id }, requests }) => [id, requests])).toEqual([
    ["mia", 4],
    ["max", 3],
  ]);
  expect([stoppedIn(both), progressOf(first), progressOf(both)]).toEqual([4, 50, 100]);
});
