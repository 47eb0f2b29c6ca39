import { isObject, type JsonObject } from "#protocols/index.ts";

/** The members that say something: those that are null or undefined must not take the place of a caller's own. */
export function present(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));
}

/**
 * A caller's own members for a vendor whose options stand inside an object of the body: what the caller has put into
 * an object of that name stays there, and what it wrote beside it goes in too.
 */
export function membersFor(more: Readonly<JsonObject>, name: string, beside: (member: string) => boolean): JsonObject {
  const inside = more[name];
  const loose = Object.entries(more).filter(([member]) => member !== name && beside(member));
  return { ...Object.fromEntries(loose), ...(isObject(inside) ? inside : {}) };
}
