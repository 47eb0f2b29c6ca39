export type Members = Readonly<Record<string, unknown>>;

/** The members of an object; none of any other value. */
export function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

export function membersIn(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** The objects of a captured body: one, a JSON array, or server-sent events. Skips what cannot be parsed. */
export function jsonValues(text: string): readonly Members[] {
  if (!/^\s*(?:data|event|id|retry)?:/.test(text)) return parsed(text);
  const events = text.replaceAll(/\r\n?/g, "\n").split("\n\n");
  return events.flatMap((event) => {
    const lines = event.split("\n").filter((line) => line.startsWith("data:"));
    return parsed(lines.map((line) => line.slice(5)).join("\n"));
  });
}

function parsed(text: string): readonly Members[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.map(membersOf) : [membersOf(value)];
  } catch {
    // Truncated, not JSON, or the `[DONE]` of a stream.
    return [];
  }
}
