/** The media type of a picture by its first bytes (each format's own signature); null for others. */
export function imageTypeOf(begin: Uint8Array): string | null {
  const text = Buffer.from(begin.buffer, begin.byteOffset, Math.min(begin.length, 16)).toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("BM")) return "image/bmp";
  if (text.slice(4, 8) === "ftyp" && /^(?:heic|heix|mif1|msf1)$/.test(text.slice(8, 12))) return "image/heic";
  return null;
}
