import { afterEach, beforeEach, expect, test } from "bun:test";
import { hashPassword, passwordMatches } from "./password.ts";

// The cost settings of production.
const tests = globalThis as { passwordKbOfTests?: number | undefined };
const ofTests = tests.passwordKbOfTests;
beforeEach(() => {
  tests.passwordKbOfTests = undefined;
});
afterEach(() => {
  tests.passwordKbOfTests = ofTests;
});

test("a password is stored as a salted argon2id hash that only it matches", async () => {
  const [first, second] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
  expect(first).toStartWith("$argon2id$v=19$m=65536,t=2,");
  expect(first).not.toBe(second);
  expect(await passwordMatches("correct horse", first)).toBe(true);
  expect(await passwordMatches("correct horsf", first)).toBe(false);
});
