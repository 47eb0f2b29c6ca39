import type { Warn } from "../codec.ts";
import { isObject, type JsonObject } from "../json/value.ts";

/** Warns of members of an answer that are not read. `read` includes labels that need no translation. */
export function warnOfUnreadMembers(object: JsonObject, read: ReadonlySet<string>, where: string, warn: Warn): void {
  for (const name in object) {
    if (read.has(name) || isEmptyValue(object[name])) continue;
    warn(`${quotableName(name)} of ${where} in the answer cannot be carried and was left out`);
  }
}

/** The same for members of a request. */
export function warnOfUnsentMembers(object: JsonObject, read: ReadonlySet<string>, where: string, warn: Warn): void {
  for (const name in object) {
    if (read.has(name) || isEmptyValue(object[name])) continue;
    warn(`${quotableName(name)} of ${where} is not understood by the upstream and was left out`);
  }
}

/** Calls made by code instead of the model exist at one vendor only. */
export function warnOfCaller(call: JsonObject, warn: Warn): void {
  const { caller } = call;
  if (!isObject(caller) || caller["type"] === "direct") return;
  warn("the caller of a tool call is not understood by the upstream and was left out");
}

export function warnOfUnknownType(kind: string, type: unknown, warn: Warn): void {
  warn(`${kind} of type ${quotableName(type)} in the answer cannot be carried and were left out`);
}

export const picturesDropped = "pictures cannot be asked of the upstream: the modality was left out";

export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

const warningsMax = 32;

/** Drops repeated warnings and those after the first 32. */
export function warnOnce(warn: Warn): Warn {
  const said = new Set<string>();
  return (what) => {
    if (said.has(what) || said.size >= warningsMax) return;
    said.add(what);
    warn(what);
  };
}

/** A name from the caller for use in a warning; "(unnamed)" unless it is plain. */
export function quotableName(word: unknown): string {
  return typeof word === "string" && /^[\w.-]{1,64}$/.test(word) ? word : "(unnamed)";
}
