import { type Loose, textIn } from "./loose.ts";

/** An address in lower case; null: there is none, or it is none. */
export function emailIn(row: Loose, name: string): string | null {
  const email = textIn(row, name)?.trim().toLowerCase();
  return email !== undefined && email.length <= 254 && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(email) ? email : null;
}
