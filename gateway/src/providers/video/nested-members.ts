import { isObject, type JsonObject } from "#protocols/index.ts";

/**
 * A caller's own members for a vendor whose options stand inside an object of the body: what the caller has put into
 * an object of that name stays there, and what it wrote beside it goes in too.
 */
export function membersFor(more: Readonly<JsonObject>, name: string, beside: (member: string) => boolean): JsonObject {
  const inside = more[name];
  const loose = Object.entries(more).filter(([member]) => member !== name && beside(member));
  return { ...Object.fromEntries(loose), ...(isObject(inside) ? inside : {}) };
}
