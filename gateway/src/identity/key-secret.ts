import { crc32 } from "node:zlib";

/**
 * The secret of an API key: `sk-sluice-`, 43 base62 characters for 256 random bits, and 6 for their CRC-32. The checksum lets secret
 * scanners recognize real keys without a database. It neither adds nor removes secrecy.
 */
export function makeKeySecret(randomBytes: Uint8Array): string {
  return makeSecret(keyStart, randomBytes);
}

/** Like an API key, with the prefix `sluice-admin-`. */
export function makeAdminTokenSecret(randomBytes: Uint8Array): string {
  return makeSecret(adminTokenStart, randomBytes);
}

/** Whether the text has the prefix, length and checksum of an admin token. */
export function hasAdminTokenFormat(text: string): boolean {
  return hasChecksum(adminTokenStart, text);
}

/** The token of a directory, valid for SCIM only. */
export function makeScimTokenSecret(randomBytes: Uint8Array): string {
  return makeSecret(scimTokenStart, randomBytes);
}

export function hasScimTokenFormat(text: string): boolean {
  return hasChecksum(scimTokenStart, text);
}

/** The part of an admin or SCIM token that may be shown: its prefix and four characters. */
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
const secretPattern = /^([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/;
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function makeSecret(start: string, randomBytes: Uint8Array): string {
  if (randomBytes.length !== keySecretBytes) {
    throw new RangeError(`a secret needs ${keySecretBytes} random bytes, not ${randomBytes.length}`);
  }
  let number = 0n;
  for (const byte of randomBytes) number = (number << 8n) | BigInt(byte);
  const random = base62(number, randomLength);
  return start + random + checksumOf(start, random);
}

function hasChecksum(start: string, text: string): boolean {
  const match = text.startsWith(start) ? secretPattern.exec(text.slice(start.length)) : null;
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
