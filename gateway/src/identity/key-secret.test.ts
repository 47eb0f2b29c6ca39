import { expect, test } from "bun:test";
import fc from "fast-check";
import { isMadeKey } from "../../test/made-key.ts";
import {
  adminTokenPrefix,
  hasAdminTokenFormat,
  keySecretBytes,
  makeAdminTokenSecret,
  makeKeySecret,
} from "./key-secret.ts";

const randomBytes = fc.uint8Array({ minLength: keySecretBytes, maxLength: keySecretBytes });

test("creates keys of sk-sluice- and 49 base62 characters with a valid checksum", () => {
  fc.assert(
    fc.property(randomBytes, (bytes) => {
      const secret = makeKeySecret(bytes);
      expect(secret).toMatch(/^sk-sluice-[0-9A-Za-z]{49}$/);
      expect(isMadeKey(secret)).toBe(true);
    }),
  );
});

test("creates different keys from different random bytes", () => {
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

test("detects one wrong character at any position", () => {
  const secret = makeKeySecret(new Uint8Array(32).fill(171));
  for (let at = 0; at < secret.length; at++) {
    const wrong = secret.charAt(at) === "x" ? "y" : "x";
    expect(isMadeKey(secret.slice(0, at) + wrong + secret.slice(at + 1))).toBe(false);
  }
});

test("rejects texts that are not keys", () => {
  const secret = makeKeySecret(new Uint8Array(32).fill(7));
  for (const text of ["", "sk-sluice-", secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`, "sk-proj-abc"]) {
    expect(isMadeKey(text)).toBe(false);
  }
});

test("throws unless there are 32 random bytes", () => {
  expect(() => makeKeySecret(new Uint8Array(31))).toThrow("32 random bytes");
});

test("distinguishes admin tokens from keys, and detects a mistyped character in both", () => {
  const bytes = new Uint8Array(32).fill(7);
  const [key, token] = [makeKeySecret(bytes), makeAdminTokenSecret(bytes)];
  expect(token).toMatch(/^sluice-admin-[0-9A-Za-z]{49}$/);
  expect([hasAdminTokenFormat(token), isMadeKey(token)]).toEqual([true, false]);
  expect([hasAdminTokenFormat(key), isMadeKey(key)]).toEqual([false, true]);
  expect(hasAdminTokenFormat(`sluice-admin-${key.slice("sk-sluice-".length)}`)).toBe(false);
  for (let place = "sluice-admin-".length; place < token.length; place++) {
    const other = token[place] === "0" ? "1" : "0";
    expect(hasAdminTokenFormat(token.slice(0, place) + other + token.slice(place + 1))).toBe(false);
  }
  expect(adminTokenPrefix(token)).toBe(token.slice(0, 17));
});
