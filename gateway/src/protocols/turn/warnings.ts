import type { Warn } from "../codec.ts";
import { isObject, type JsonObject } from "../json/value.ts";

/** Warns of members of an answer that are not read. `read` includes labels that need no translation. */
export function warnOfUnreadMembers(object: JsonObject, read: ReadonlySet<string>, where: string, warn: Warn): void {
  for (const name of unreadMembers(object, read, isEmptyValue)) {
    warn(`${name} of ${where} in the answer cannot be translated and was dropped`);
  }
}

/** The same for members of a request. `where`: empty for the request itself. */
export function warnOfUnsentMembers(
  object: JsonObject,
  read: ReadonlySet<string>,
  where: string,
  warn: Warn,
  isEmpty = isEmptyValue,
): void {
  for (const name of unreadMembers(object, read, isEmpty)) {
    warn(notSupported(where === "" ? name : `${name} of ${where}`));
  }
}

function unreadMembers(object: JsonObject, read: ReadonlySet<string>, isEmpty: typeof isEmptyValue): string[] {
  const unread: string[] = [];
  for (const name in object) if (!read.has(name) && !isEmpty(object[name])) unread.push(quotableName(name));
  return unread;
}

export function isAbsent(value: unknown): boolean {
  return value === null || value === undefined;
}

/** The usual warning of something that a request cannot carry. */
export function notSupported(what: string): string {
  return `${what} is not supported by the upstream and was dropped`;
}

/** Calls made by code instead of the model exist at one vendor only. */
export function warnOfCaller(call: JsonObject, warn: Warn): void {
  const { caller } = call;
  if (!isObject(caller) || caller["type"] === "direct") return;
  warn(notSupported("the caller of a tool call"));
}

export function warnOfUnknownType(kind: string, type: unknown, warn: Warn): void {
  warn(`${kind} of type ${quotableName(type)} in the answer cannot be translated and were dropped`);
}

/** Values that ask for nothing. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "" || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

const warningsMax = 32;

/** Drops repeated warnings and those after the first 32. */
export function warnOnce(warn: Warn): Warn {
  const sent = new Set<string>();
  return (what) => {
    if (sent.has(what) || sent.size >= warningsMax) return;
    sent.add(what);
    warn(what);
  };
}

/** A name from the caller for use in a warning; "(unnamed)" unless it is plain. */
export function quotableName(word: unknown): string {
  return typeof word === "string" && /^[\w.-]{1,64}$/.test(word) ? word : "(unnamed)";
}
