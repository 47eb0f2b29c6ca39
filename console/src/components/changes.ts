/** One field that differs. undefined: the field is missing on that side. */
export interface Change {
  /** `limits.rpm`, `models.0`; empty for the value itself. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

const changesMax = 500;

/** The fields in which two JSON values differ: fields of the first value in its order, then new fields of the second. */
export function changesBetween(before: unknown, after: unknown): readonly Change[] {
  const changes: Change[] = [];
  collect("", before ?? undefined, after ?? undefined, changes);
  return changes;
}

function collect(path: string, before: unknown, after: unknown, changes: Change[]): void {
  if (changes.length >= changesMax || same(before, after)) return;
  const one = fieldsOf(before);
  const other = fieldsOf(after);
  // Added and removed objects are also shown field by field, so that long ones stay readable.
  if ((one === null && before !== undefined) || (other === null && after !== undefined) || (one ?? other) === null) {
    changes.push({ path, before, after });
    return;
  }
  const names = new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})]);
  if (names.size === 0) changes.push({ path, before, after });
  for (const name of names) collect(path === "" ? name : `${path}.${name}`, one?.[name], other?.[name], changes);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | null {
  return value !== null && typeof value === "object" ? { ...value } : null;
}

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
