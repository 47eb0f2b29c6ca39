import { expect, test } from "bun:test";
import { hashPassword, passwordMatches } from "./password.ts";

test("a password is stored as a salted argon2id hash that only it matches", async () => {
  const [first, second] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
  expect(first).toStartWith("$argon2id$");
  expect(first).not.toBe(second);
  expect(await passwordMatches("correct horse", first)).toBe(true);
  expect(await passwordMatches("correct horsf", first)).toBe(false);
});
