import { crc32 } from "node:zlib";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Whether a text is a key as the gateway makes them, read as a scanner of repositories would: by its form and its CRC-32. */
export function isMadeKey(text: string): boolean {
  if (!/^sk-sluice-[0-9A-Za-z]{49}$/.test(text) || text.endsWith("\n")) return false;
  let checksum = 0;
  for (const character of text.slice(-6)) checksum = checksum * 62 + alphabet.indexOf(character);
  return checksum === crc32(text.slice(0, -6));
}
