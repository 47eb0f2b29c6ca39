import { expect, test } from "bun:test";
import { isBuilt } from "./process.ts";

test("isBuilt is false when running from source", () => {
  expect(isBuilt).toBe(false);
});
