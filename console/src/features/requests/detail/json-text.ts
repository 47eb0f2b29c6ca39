/** Parses a text that is a JSON object or list; undefined for anything else (a stream, a truncated text, a bare word). */
export function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
