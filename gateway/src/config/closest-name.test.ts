import { expect, test } from "bun:test";
import { closestOf } from "./closest-name.ts";

test("finds the intended name for a typo, and none for another word", () => {
  const fields = ["api_key", "base_url", "id", "kind", "timeouts", "HOME"];
  for (const [typed, meant] of [
    ["api_kye", "api_key"],
    ["apikey", "api_key"],
    ["API_KEY", "api_key"],
    ["baseurl", "base_url"],
    ["timeout", "timeouts"],
    ["plugins", null],
    ["", null],
    ["kid", "id"],
    ["kinds", "kind"],
    ["NOPE", null],
    ["x", null],
    // The same name is no correction.
    ["kind", null],
  ] as const) {
    expect(closestOf(typed, fields)).toBe(meant);
  }
});
