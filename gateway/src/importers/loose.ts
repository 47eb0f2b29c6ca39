/** Reading rows and files of other programs: a missing or odd value is absent, never an error. */

export type Loose = Readonly<Record<string, unknown>>;

export function isLoose(value: unknown): value is Loose {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** A text that is not empty; null: there is none. */
export function textIn(row: Loose, name: string): string | null {
  const value = row[name];
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** A finite number, also as text; null: there is none. */
export function numberIn(row: Loose, name: string): number | null {
  const value = row[name];
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number === "bigint") return Number(number);
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

/** 1 and true, also as texts. */
export function flagIn(row: Loose, name: string): boolean {
  const value = row[name];
  return value === true || value === 1 || value === "1" || value === "true";
}

/** The texts of a list, also of a JSON text. */
export function textsIn(row: Loose, name: string): readonly string[] {
  const value = parsed(row[name]);
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string" && each !== "") : [];
}

/** The objects of a list, also of a JSON text. */
export function rowsIn(row: Loose, name: string): readonly Loose[] {
  const value = parsed(row[name]);
  return Array.isArray(value) ? value.filter(isLoose) : [];
}

/** An object, also as JSON text; empty: there is none. */
export function objectIn(row: Loose, name: string): Loose {
  const value = parsed(row[name]);
  return isLoose(value) ? value : {};
}

/** A time in Unix milliseconds. A text without a zone is UTC. */
export function timeIn(row: Loose, name: string): number | null {
  const value = row[name];
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.getTime();
  if (typeof value !== "string") return null;
  const hasZone = /(Z|[+-]\d{2}:?\d{2})$/.test(value);
  const at = Date.parse(hasZone ? value : `${value.replace(" ", "T")}Z`);
  return Number.isNaN(at) ? null : at;
}

/** Whether a value holds anything. */
export function isPresent(value: unknown): boolean {
  const read = parsed(value);
  if (read === null || read === undefined || read === "" || read === false) return false;
  if (Array.isArray(read)) return read.length > 0;
  return isLoose(read) ? Object.keys(read).length > 0 : true;
}

function parsed(value: unknown): unknown {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
