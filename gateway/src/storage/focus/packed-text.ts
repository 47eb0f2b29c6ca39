import { gunzipSync, gzipSync } from "node:zlib";

/** Text in a text column: gzipped, in base64. */
export function packedText(text: string): string {
  return gzipSync(text).toString("base64");
}

export function unpackedText(stored: string): string {
  return gunzipSync(Buffer.from(stored, "base64")).toString("utf8");
}
