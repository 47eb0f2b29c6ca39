import { bounds } from "#core/index.ts";
import type { ScimFilter } from "#directory/index.ts";
import { readPath, type ScimPath } from "./scim-filter.ts";
import { invalid } from "./scim-problem.ts";
import { isObject, memberOf, objectOf } from "./scim-values.ts";

/** One change of a PATCH (RFC 7644, 3.5.2), its path always there: one without becomes one for each name in its value. */
export interface ScimOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: ScimPath;
  readonly value: unknown;
  /** It stood in a value, where read-only names are passed over: directories send the id along. */
  readonly spread: boolean;
}

export function readOperations(body: unknown): readonly ScimOperation[] {
  const given = memberOf(objectOf(body, "The body"), "Operations");
  if (!Array.isArray(given) || given.length === 0) throw invalid("invalidSyntax", "Operations is a list of changes.");
  const operations: ScimOperation[] = [];
  for (const each of given) {
    operations.push(...operationsOf(each));
    if (operations.length > bounds.scimOperationsMax) {
      throw invalid("invalidSyntax", `There are at most ${bounds.scimOperationsMax} changes in one call.`);
    }
  }
  return operations;
}

function operationsOf(given: unknown): readonly ScimOperation[] {
  const object = objectOf(given, "A change");
  const op = String(memberOf(object, "op")).toLowerCase();
  if (op !== "add" && op !== "replace" && op !== "remove") {
    throw invalid("invalidSyntax", "op is add, replace or remove.");
  }
  const path = memberOf(object, "path");
  const value = memberOf(object, "value");
  if (path !== undefined && path !== null && typeof path !== "string") throw invalid("invalidPath", "path is text.");
  if (typeof path === "string" && path.trim() !== "") {
    return spreadExtension({ op, path: readPath(path.trim()), value, spread: false });
  }
  if (op === "remove") throw invalid("noTarget", "A removal says in path what is removed.");
  if (!isObject(value)) throw invalid("invalidValue", "A change without a path has an object as its value.");
  const names = Object.keys(value);
  if (names.length > bounds.scimOperationsMax) throw invalid("invalidValue", "There are too many names in the value.");
  return names.flatMap((name) => {
    if (name.toLowerCase() === "schemas") return [];
    return spreadExtension({ op, path: readPath(name), value: value[name], spread: true });
  });
}

/** The whole extension as the target is each of the names in the value. */
function spreadExtension(operation: ScimOperation): readonly ScimOperation[] {
  const { op, path, value } = operation;
  if (path.schema === null || path.attribute !== "" || op === "remove" || !isObject(value)) return [operation];
  return Object.keys(value)
    .slice(0, bounds.scimOperationsMax)
    .map((attribute) => ({
      op,
      path: { schema: path.schema, attribute, filter: null, part: null },
      value: value[attribute],
      spread: true,
    }));
}

/** Whether a value (`{"value": …, "type": …}`) is one that a filter chooses. Upper and lower case alike. */
export function chooses(filter: ScimFilter, value: Readonly<Record<string, unknown>>): boolean {
  switch (filter.kind) {
    case "and":
      return filter.parts.every((part) => chooses(part, value));
    case "or":
      return filter.parts.some((part) => chooses(part, value));
    case "not":
      return !chooses(filter.part, value);
    case "some":
      return false;
    case "present":
      return memberOf(value, filter.path) !== undefined;
    case "compare":
      return compares(filter, memberOf(value, filter.path));
  }
}

function compares({ comparison, value }: Extract<ScimFilter, { kind: "compare" }>, held: unknown): boolean {
  // An absent primary is a false one.
  if (typeof value === "boolean") return (comparison === "ne") !== ((held ?? false) === value);
  const [one, other] = [String(held ?? "").toLowerCase(), String(value ?? "").toLowerCase()];
  switch (comparison) {
    case "eq":
      return one === other;
    case "ne":
      return one !== other;
    case "co":
      return one.includes(other);
    case "sw":
      return one.startsWith(other);
    case "ew":
      return one.endsWith(other);
    case "gt":
      return one > other;
    case "ge":
      return one >= other;
    case "lt":
      return one < other;
    case "le":
      return one <= other;
  }
}
