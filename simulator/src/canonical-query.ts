/** Names and values as both signatures write them, in order. */
export function canonicalQuery(query: string): string {
  const rows = [...new URLSearchParams(query)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  return rows.toSorted().join("&");
}

/** RFC 3986: everything but letters, digits and -._~ */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
