import type { Warn } from "../codec.ts";
import { isObject, type JsonObject } from "../json/value.ts";

/**
 * Warns of each member of an answer's object that its reader does not know. `read` names those that are read, and those
 * that only label what is carried (types, states, times). null, false and what is empty say nothing.
 */
export function warnOfUnreadMembers(object: JsonObject, read: ReadonlySet<string>, where: string, warn: Warn): void {
  for (const name in object) {
    if (read.has(name) || isEmptyValue(object[name])) continue;
    warn(`${quotableName(name)} of ${where} in the answer cannot be carried and was left out`);
  }
}

/** The same of a request: what of an object the upstream is not told. */
export function warnOfUnsentMembers(object: JsonObject, read: ReadonlySet<string>, where: string, warn: Warn): void {
  for (const name in object) {
    if (read.has(name) || isEmptyValue(object[name])) continue;
    warn(`${quotableName(name)} of ${where} is not understood by the upstream and was left out`);
  }
}

/** `caller` of a call: the model itself is what everybody takes for granted; code that calls tools runs at one vendor. */
export function warnOfCaller(call: JsonObject, warn: Warn): void {
  const { caller } = call;
  if (!isObject(caller) || caller["type"] === "direct") return;
  warn("the caller of a tool call is not understood by the upstream and was left out");
}

/** Warns of a block, an item or a part of an answer that has no neutral form. */
export function warnOfUnknownType(kind: string, type: unknown, warn: Warn): void {
  warn(`${kind} of type ${quotableName(type)} in the answer cannot be carried and were left out`);
}

/** For dialects whose upstreams make no pictures while they talk. */
export const picturesDropped = "pictures cannot be asked of the upstream: the modality was left out";

export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== "object") return false;
  for (const _ in value) return false;
  return true;
}

const warningsMax = 32;

/** The same warning is said once a call, and no more than 32 different ones. */
export function warnOnce(warn: Warn): Warn {
  const said = new Set<string>();
  return (what) => {
    if (said.has(what) || said.size >= warningsMax) return;
    said.add(what);
    warn(what);
  };
}

/** A caller's own word in a warning: quoted only when it is a plain name. Takes whatever a body holds. */
export function quotableName(word: unknown): string {
  return typeof word === "string" && /^[\w.-]{1,64}$/.test(word) ? word : "(unnamed)";
}
