import { createHash } from "node:crypto";

/** OpenAI refuses ids of tool calls above 40 characters, and names of users above 64. */
export const callIdCharactersMax = 40;
export const userIdCharactersMax = 64;

/** The id itself where it fits, else a digest of it: the same each time. */
export function shortId(id: string, prefix: string, charactersMax: number): string {
  if (id.length <= charactersMax) return id;
  return prefix + createHash("sha256").update(id).digest("hex").slice(0, 32);
}

/** Ids of calls as Mistral takes them, `^[a-zA-Z0-9]{9}$`: its own stay as they are. */
export function nineLetters(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash("sha256").update(id).digest("hex").slice(0, 9);
}
