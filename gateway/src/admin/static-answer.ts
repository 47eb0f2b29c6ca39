import type { StaticFile } from "#ports/index.ts";

/** A file with its cache rules: a hashed name is kept for good, anything else is asked about again each time. */
export function answerFile(request: Request, file: StaticFile, policy: string): Response {
  const headers = new Headers({
    "content-type": file.type,
    "content-security-policy": policy,
    "cache-control": file.immutable ? "public, max-age=31536000, immutable" : "no-cache",
    etag: file.etag,
    vary: "accept-encoding",
  });
  if (matches(request.headers.get("if-none-match"), file.etag)) return new Response(null, { status: 304, headers });
  const accepted = request.headers.get("accept-encoding");
  for (const [coding, bytes] of [
    ["br", file.brotli],
    ["gzip", file.gzip],
  ] as const) {
    if (bytes === null || !accepts(accepted, coding)) continue;
    headers.set("content-encoding", coding);
    return new Response(bytes, { headers });
  }
  return new Response(file.bytes, { headers });
}

/** The same for text that we wrote ourselves. */
export function answerText(request: Request, text: string, type: string, policy: string): Response {
  const bytes = new TextEncoder().encode(text);
  const etag = `W/"${textTag(bytes)}"`;
  return answerFile(request, { bytes, gzip: null, brotli: null, type, immutable: false, etag }, policy);
}

/** RFC 9110 §13.1.2: a list of tags, or `*`. Weakness is not compared. */
function matches(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  const strong = (tag: string) => tag.trim().replace(/^W\//, "");
  return ifNoneMatch.split(",").some((tag) => tag.trim() === "*" || strong(tag) === strong(etag));
}

/** RFC 9110 §12.5.3: `gzip;q=0` means that it must not be sent; what is named outweighs `*`. */
function accepts(acceptEncoding: string | null, coding: "br" | "gzip"): boolean {
  const named = new Map<string, boolean>();
  for (const part of (acceptEncoding ?? "").toLowerCase().split(",")) {
    const [, name, weight] = /^\s*([a-z*-]+)\s*(?:;\s*q=([\d.]+)\s*)?$/.exec(part) ?? [];
    if (name !== undefined) named.set(name === "x-gzip" ? "gzip" : name, weight === undefined || Number(weight) > 0);
  }
  return named.get(coding) ?? named.get("*") ?? false;
}

/** FNV-1a: tells one version of our own text from another, and guards nothing. */
function textTag(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return `${(hash >>> 0).toString(36)}-${bytes.byteLength.toString(36)}`;
}
