/** Whether a content type says that one JSON value follows: `application/json`, or a type with the suffix `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType);
}
