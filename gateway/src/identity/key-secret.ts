import { crc32 } from "node:zlib";

/**
 * A caller's key as it is shown once: `sk-sluice-`, 43 base62 characters that hold 256 random bits, and 6 that hold
 * their CRC-32. The checksum lets scanners of repositories, and ourselves, tell a key from a mistyped or made-up one
 * without asking a database; it adds no secrecy and takes none.
 */
export function makeKeySecret(randomBytes: Uint8Array): string {
  if (randomBytes.length !== keySecretBytes) {
    throw new RangeError(`a key secret is made of ${keySecretBytes} random bytes, not ${randomBytes.length}`);
  }
  let number = 0n;
  for (const byte of randomBytes) number = (number << 8n) | BigInt(byte);
  const random = base62(number, randomLength);
  return prefix + random + checksumOf(random);
}

/** Whether the text has the shape and the checksum of a made key. Keys declared with a secret of their own do not. */
export function looksLikeKeySecret(text: string): boolean {
  const match = shape.exec(text);
  return match !== null && match[2] === checksumOf(match[1] ?? "");
}

export const keySecretBytes = 32;

const prefix = "sk-sluice-";
// 62^43 is just above 2^256, and 62^6 above 2^32.
const randomLength = 43;
const checksumLength = 6;
const shape = /^sk-sluice-([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function checksumOf(random: string): string {
  return base62(BigInt(crc32(prefix + random)), checksumLength);
}

function base62(number: bigint, length: number): string {
  let text = "";
  for (let rest = number; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text;
}
