import { createHmac } from "node:crypto";

const stepMs = 30_000;
const base32Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of an authenticator app for a key: RFC 6238 with SHA-1, six digits, 30-second steps. */
export function oneTimeCode(key: string, atMs = Date.now()): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(atMs / stepMs)));
  const digest = createHmac("sha1", fromBase32(key)).update(counter).digest();
  const offset = (digest.at(-1) ?? 0) & 15;
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

function fromBase32(text: string): Buffer {
  let bits = "";
  for (const character of text.replace(/=+$/, ""))
    bits += base32Alphabet.indexOf(character).toString(2).padStart(5, "0");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
