import { expect, test } from "bun:test";
import { decisionBody, decisionsIn } from "./decisions.ts";

test("asks a predicate for each statement", () => {
  expect(decisionBody("m", " A parcel. ", ["It is late.", "It is lost."])).toEqual({
    model: "m",
    input: "A parcel.",
    questions: [
      { type: "predicate", instructions: "It is late." },
      { type: "predicate", instructions: "It is lost." },
    ],
  });
});

test("pairs answers with statements; a refusal has no probability", () => {
  const answers = [{ type: "predicate", probability: 0.25 }, { type: "refusal" }, null];
  expect(decisionsIn({ answers }, ["one", "two"])).toEqual([
    { statement: "one", probability: 0.25 },
    { statement: "two", probability: null },
    { statement: "", probability: null },
  ]);
  expect(decisionsIn("no", [])).toEqual([]);
});
