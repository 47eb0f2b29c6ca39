import { expect, test } from "bun:test";
import fc from "fast-check";
import { isMadeKey } from "../../test/made-key.ts";
import {
  adminTokenPrefix,
  keySecretBytes,
  looksLikeAdminToken,
  makeAdminTokenSecret,
  makeKeySecret,
} from "./key-secret.ts";

const randomBytes = fc.uint8Array({ minLength: keySecretBytes, maxLength: keySecretBytes });

test("a made key is sk-sluice- and 49 base62 characters, and is recognised", () => {
  fc.assert(
    fc.property(randomBytes, (bytes) => {
      const secret = makeKeySecret(bytes);
      expect(secret).toMatch(/^sk-sluice-[0-9A-Za-z]{49}$/);
      expect(isMadeKey(secret)).toBe(true);
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
    expect(isMadeKey(secret.slice(0, at) + wrong + secret.slice(at + 1))).toBe(false);
  }
});

test("other texts are not taken for a made key", () => {
  const secret = makeKeySecret(new Uint8Array(32).fill(7));
  for (const text of ["", "sk-sluice-", secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`, "sk-proj-abc"]) {
    expect(isMadeKey(text)).toBe(false);
  }
});

test("anything but 32 random bytes is refused", () => {
  expect(() => makeKeySecret(new Uint8Array(31))).toThrow("32 random bytes");
});

test("an admin token and a key are never taken for one another, and both show a mistyped character", () => {
  const bytes = new Uint8Array(32).fill(7);
  const [key, token] = [makeKeySecret(bytes), makeAdminTokenSecret(bytes)];
  expect(token).toMatch(/^sluice-admin-[0-9A-Za-z]{49}$/);
  expect([looksLikeAdminToken(token), isMadeKey(token)]).toEqual([true, false]);
  expect([looksLikeAdminToken(key), isMadeKey(key)]).toEqual([false, true]);
  expect(looksLikeAdminToken(`sluice-admin-${key.slice("sk-sluice-".length)}`)).toBe(false);
  for (let place = "sluice-admin-".length; place < token.length; place++) {
    const other = token[place] === "0" ? "1" : "0";
    expect(looksLikeAdminToken(token.slice(0, place) + other + token.slice(place + 1))).toBe(false);
  }
  expect(adminTokenPrefix(token)).toBe(token.slice(0, 17));
});
