/** The object or list that a text holds; undefined when it holds none (a stream, a text that was cut, a bare word). */
export function jsonOf(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
