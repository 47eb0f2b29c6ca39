/** The query's names and values as both signature schemes encode them, sorted. */
export function canonicalQuery(query: string): string {
  const rows = [...new URLSearchParams(query)].map(([name, value]) => `${percentEncode(name)}=${percentEncode(value)}`);
  return rows.toSorted().join("&");
}

/** RFC 3986: encodes everything except letters, digits and -._~ */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
