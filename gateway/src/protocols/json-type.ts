/** Whether a content type says that one JSON value follows: `application/json`, or a type with the suffix `+json` (RFC 6839). */
export function isJsonType(contentType: string): boolean {
  return /^application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType);
}

/** Whether it says that server-sent events follow, however it is spelt (RFC 9110, 8.3.1). */
export function isEventStreamType(contentType: string): boolean {
  return contentType.startsWith("text/event-stream") || isOfType(contentType, "text/event-stream");
}

/** The same of Amazon's own framing. */
export function isAwsEventStreamType(contentType: string): boolean {
  return isOfType(contentType, "application/vnd.amazon.eventstream");
}

function isOfType(contentType: string, type: string): boolean {
  // Almost every other type differs in its first letter or its length.
  if (contentType.length < type.length || (contentType.charCodeAt(0) | 0x20) !== type.charCodeAt(0)) return false;
  return contentType.slice(0, type.length).toLowerCase() === type;
}
