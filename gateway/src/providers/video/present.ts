import type { JsonObject } from "#protocols/index.ts";

/** The members that say something: those that are null or undefined must not take the place of a caller's own. */
export function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}
