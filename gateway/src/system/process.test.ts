import { expect, test } from "bun:test";
import { isBuilt } from "./process.ts";

test("source is not taken for a build", () => {
  expect(isBuilt).toBe(false);
});
