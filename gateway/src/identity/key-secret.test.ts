import { expect, test } from "bun:test";
import fc from "fast-check";
import { keySecretBytes, looksLikeKeySecret, makeKeySecret } from "./key-secret.ts";

const randomBytes = fc.uint8Array({ minLength: keySecretBytes, maxLength: keySecretBytes });

test("a made key is sk-sluice- and 49 base62 characters, and is recognised", () => {
  fc.assert(
    fc.property(randomBytes, (bytes) => {
      const secret = makeKeySecret(bytes);
      expect(secret).toMatch(/^sk-sluice-[0-9A-Za-z]{49}$/);
      expect(looksLikeKeySecret(secret)).toBe(true);
    }),
  );
});

test("different random bits give different keys: the lowest and the highest are known", () => {
  expect(makeKeySecret(new Uint8Array(32))).toStartWith(`sk-sluice-${"0".repeat(43)}`);
  const lowestBit = new Uint8Array(32);
  lowestBit[31] = 1;
  expect(makeKeySecret(lowestBit)).toStartWith(`sk-sluice-${"0".repeat(42)}1`);
  fc.assert(
    fc.property(randomBytes, randomBytes, (one, other) => {
      const same = Buffer.compare(one, other) === 0;
      expect(makeKeySecret(one) === makeKeySecret(other)).toBe(same);
    }),
  );
});

test("one wrong character anywhere is noticed", () => {
  const secret = makeKeySecret(new Uint8Array(32).fill(171));
  for (let at = 0; at < secret.length; at++) {
    const wrong = secret.charAt(at) === "x" ? "y" : "x";
    expect(looksLikeKeySecret(secret.slice(0, at) + wrong + secret.slice(at + 1))).toBe(false);
  }
});

test("other texts are not taken for a made key", () => {
  const secret = makeKeySecret(new Uint8Array(32).fill(7));
  for (const text of ["", "sk-sluice-", secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`, "sk-proj-abc"]) {
    expect(looksLikeKeySecret(text)).toBe(false);
  }
});

test("anything but 32 random bytes is refused", () => {
  expect(() => makeKeySecret(new Uint8Array(31))).toThrow("32 random bytes");
});
