import { expect, test } from "bun:test";
import { boundedPasswords, passwordsAtOnceMax, passwordsWaitingMax } from "./passwords.ts";

test("hashes a few passwords at once, queues some, and rejects the rest with a retry delay", async () => {
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const bounded = boundedPasswords({
    hashPassword: async (password) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((end) => ends.push(end));
      running -= 1;
      return `hash of ${password}`;
    },
    passwordMatches: async () => true,
  });
  const places = passwordsAtOnceMax + passwordsWaitingMax;
  const asked = Array.from({ length: places }, (_, index) => bounded.hashPassword(`p${index}`));
  await expect(bounded.hashPassword("one too many")).rejects.toMatchObject({
    code: "rate_limit_exceeded",
    retryAfterMs: 2_000,
  });
  await expect(bounded.passwordMatches("one too many", "")).rejects.toMatchObject({ code: "rate_limit_exceeded" });
  for (let ended = 0; ended < places; ended++) {
    ends.shift()?.();
    await asked[ended];
  }
  expect(await Promise.all(asked)).toEqual(Array.from({ length: places }, (_, index) => `hash of p${index}`));
  expect([most, running]).toEqual([passwordsAtOnceMax, 0]);
  expect(await bounded.passwordMatches("later", "")).toBe(true);
});

test("a hash that fails gives its place to the next", async () => {
  const bounded = boundedPasswords({
    hashPassword: async (password) => {
      if (password === "bad") throw new Error("no memory");
      return password;
    },
    passwordMatches: async () => true,
  });
  const asked = await Promise.allSettled(["bad", "bad", "bad", "good"].map((each) => bounded.hashPassword(each)));
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "fulfilled"]);
});
