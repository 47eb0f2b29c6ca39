import { expect, test } from "bun:test";
import { Problem } from "../client/problem.ts";
import { problems } from "../language/en/problems.ts";
import { wrongField } from "./wrong-field.ts";

const problem = (code: string, param: string | null) => new Problem(code, "Said by the API.", "req_1", param);

test("a field shows its error in the page's language", () => {
  expect(wrongField(problem("conflict", "email"), "email")).toBe(problems.fields.email.conflict);
  expect(wrongField(problem("missing_required_parameter", "email"), "email")).toBe("This field is required.");
  expect(wrongField(problem("invalid_request", "tags.0"), "tags")).toBe(problems.field.invalid_request);
  expect(wrongField(problem("invalid_request", "settings.base_url"), "settings.base_url")).toBe(
    problems.fields.base_url.invalid_request,
  );
});

test("a code that no field knows keeps its sentence", () => {
  expect(wrongField(problem("asset_not_found", "image"), "image")).toBe("Said by the API.");
});

test("a field does not show errors of other fields or of the form", () => {
  expect(wrongField(problem("conflict", "name"), "names")).toBeNull();
  expect(wrongField(problem("conflict", "names"), "name")).toBeNull();
  expect(wrongField(problem("conflict", null), "name")).toBeNull();
  expect(wrongField(null, "name")).toBeNull();
});
