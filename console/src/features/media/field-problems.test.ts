import { expect, test } from "bun:test";
import { Problem } from "../../client/problem.ts";
import { fieldProblems } from "./field-problems.ts";

const fields = ["prompt", "references"];

test.each([["prompt"], ["references.1"]])(
  "a problem with a field that the form shows stands beside it: %s",
  (param) => {
    const problem = new Problem("missing_required_parameter", "It is missing.", "req_1", param);
    const problems = fieldProblems(problem, fields);
    expect(fields.map(problems.of).filter((words) => words !== null)).toEqual(["This field is required."]);
    expect([problems.marked, problems.rest]).toEqual([problem, null]);
  },
);

test.each([["seed"], ["prompt_name"], [null]])("what no field shows stands beside the answer: %s", (param) => {
  const problem = new Problem("invalid_request", "Wrong.", null, param);
  const problems = fieldProblems(problem, fields);
  expect(fields.map(problems.of)).toEqual([null, null]);
  expect([problems.marked, problems.rest]).toEqual([null, problem]);
});

test("a valid form has no errors", () => {
  const problems = fieldProblems(null, fields);
  expect([problems.of("prompt"), problems.marked, problems.rest]).toEqual([null, null, null]);
});
