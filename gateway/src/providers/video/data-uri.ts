export interface InlineData {
  readonly contentType: string;
  readonly base64: string;
}

/** What a `data:` URI holds as base64; null for an address, and for data in another form (RFC 2397). */
export function readDataUri(url: string): InlineData | null {
  const comma = url.indexOf(",");
  if (comma === -1 || !/^data:/i.test(url.slice(0, 5))) return null;
  const [contentType = "", ...parameters] = url.slice(5, comma).split(";");
  if (!parameters.some((parameter) => parameter.trim().toLowerCase() === "base64")) return null;
  return { contentType: contentType.toLowerCase() || "application/octet-stream", base64: url.slice(comma + 1) };
}

/** For vendors that take an address or bare base64, and refuse the prefix. */
export function withoutDataPrefix(url: string): string {
  return readDataUri(url)?.base64 ?? url;
}
