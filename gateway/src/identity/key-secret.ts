import { crc32 } from "node:zlib";

/**
 * A caller's key as it is shown once: `sk-sluice-`, 43 base62 characters that hold 256 random bits, and 6 that hold
 * their CRC-32. The checksum lets scanners of repositories tell a key from a mistyped or made-up one
 * without asking a database; it adds no secrecy and takes none.
 */
export function makeKeySecret(randomBytes: Uint8Array): string {
  return makeSecret(keyStart, randomBytes);
}

/** An admin token is made alike; it begins with `sluice-admin-`, so that nobody takes the one for the other. */
export function makeAdminTokenSecret(randomBytes: Uint8Array): string {
  return makeSecret(adminTokenStart, randomBytes);
}

/** Whether the text has the shape and the checksum of an admin token. */
export function looksLikeAdminToken(text: string): boolean {
  return hasChecksum(adminTokenStart, text);
}

/** A directory's token, which is good for SCIM and nothing else, begins with `sluice-scim-`. */
export function makeScimTokenSecret(randomBytes: Uint8Array): string {
  return makeSecret(scimTokenStart, randomBytes);
}

export function looksLikeScimToken(text: string): boolean {
  return hasChecksum(scimTokenStart, text);
}

/** What may be shown of an admin token or a directory's: its beginning and four characters to tell it by. */
export function adminTokenPrefix(secret: string): string {
  const start = secret.startsWith(scimTokenStart) ? scimTokenStart : adminTokenStart;
  return secret.slice(0, start.length + 4);
}

export const keySecretBytes = 32;

const keyStart = "sk-sluice-";
const adminTokenStart = "sluice-admin-";
const scimTokenStart = "sluice-scim-";
// 62^43 is just above 2^256, and 62^6 above 2^32.
const randomLength = 43;
const checksumLength = 6;
const madePart = /^([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function makeSecret(start: string, randomBytes: Uint8Array): string {
  if (randomBytes.length !== keySecretBytes) {
    throw new RangeError(`a secret is made of ${keySecretBytes} random bytes, not ${randomBytes.length}`);
  }
  let number = 0n;
  for (const byte of randomBytes) number = (number << 8n) | BigInt(byte);
  const random = base62(number, randomLength);
  return start + random + checksumOf(start, random);
}

function hasChecksum(start: string, text: string): boolean {
  const match = text.startsWith(start) ? madePart.exec(text.slice(start.length)) : null;
  return match !== null && match[2] === checksumOf(start, match[1] ?? "");
}

function checksumOf(start: string, random: string): string {
  return base62(BigInt(crc32(start + random)), checksumLength);
}

function base62(number: bigint, length: number): string {
  let text = "";
  for (let rest = number; text.length < length; rest /= 62n) text = alphabet.charAt(Number(rest % 62n)) + text;
  return text;
}
