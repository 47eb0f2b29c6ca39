import { expect, test } from "bun:test";
import { Problem } from "../../client/problem.ts";
import { fieldProblems } from "./field-problems.ts";

const fields = ["prompt", "references"];

test.each([["prompt"], ["references.1"]])(
  "a problem of a field that the form shows is shown next to it: %s",
  (param) => {
    const problem = new Problem("missing_required_parameter", "It is missing.", "req_1", param);
    const problems = fieldProblems(problem, fields);
    expect(fields.map(problems.of).filter((words) => words !== null)).toEqual(["This field is required."]);
    expect([problems.marked, problems.rest]).toEqual([problem, null]);
  },
);

test.each([["seed"], ["prompt_name"], [null]])(
  "a problem of a field that the form does not show is shown next to the response: %s",
  (param) => {
    const problem = new Problem("invalid_request", "Wrong.", null, param);
    const problems = fieldProblems(problem, fields);
    expect(fields.map(problems.of)).toEqual([null, null]);
    expect([problems.marked, problems.rest]).toEqual([null, problem]);
  },
);

test("a valid form has no errors", () => {
  const problems = fieldProblems(null, fields);
  expect([problems.of("prompt"), problems.marked, problems.rest]).toEqual([null, null, null]);
});
