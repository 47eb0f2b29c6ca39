import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Whether a text has the format of a generated key, checked like a repository scanner: by its form and CRC-32. */
export function isMadeKey(text: string): boolean {
  if (!/^sk-sluice-[0-9A-Za-z]{49}$/.test(text) || text.endsWith("\n")) return false;
  let checksum = 0;
  for (const character of text.slice(-6)) checksum = checksum * 62 + alphabet.indexOf(character);
  return checksum === crc32(text.slice(0, -6));
}
