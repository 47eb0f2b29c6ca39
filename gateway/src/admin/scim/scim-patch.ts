import { bounds } from "#core/index.ts";
import type { ScimFilter, ScimGroupChange, ScimMemberChange } from "#directory/index.ts";
import { matchesFilter, readPath, type ScimPath } from "./scim-filter.ts";
import { invalid } from "./scim-problem.ts";
import { externalIdOf, groupName, type UserResource, userIdsOf } from "./scim-resources.ts";
import * as schema from "./scim-schema.ts";

/** One operation of a PATCH (RFC 7644, 3.5.2). An operation without a path becomes one for each name in its value. */
interface ScimOperation {
  readonly op: "add" | "replace" | "remove";
  readonly path: ScimPath;
  readonly value: unknown;
  /** From a value object, in which read-only names are ignored, since directories send the id along. */
  readonly spread: boolean;
}

export function readOperations(body: unknown): readonly ScimOperation[] {
  const changes = schema.memberOf(schema.objectOf(body, "The body"), "Operations");
  if (!Array.isArray(changes) || changes.length === 0)
    throw invalid("invalidSyntax", "Operations must be a list of changes.");
  const operations: ScimOperation[] = [];
  for (const each of changes) {
    operations.push(...operationsOf(each));
    if (operations.length > bounds.scimOperationsMax) {
      throw invalid("invalidSyntax", `There are at most ${bounds.scimOperationsMax} changes in one call.`);
    }
  }
  return operations;
}

function operationsOf(change: unknown): readonly ScimOperation[] {
  const object = schema.objectOf(change, "A change");
  const op = String(schema.memberOf(object, "op")).toLowerCase();
  if (op !== "add" && op !== "replace" && op !== "remove") {
    throw invalid("invalidSyntax", "op must be add, replace or remove.");
  }
  const path = schema.memberOf(object, "path");
  const value = schema.memberOf(object, "value");
  if (path !== undefined && path !== null && typeof path !== "string")
    throw invalid("invalidPath", "path must be a string.");
  if (typeof path === "string" && path.trim() !== "") {
    return spreadExtension({ op, path: readPath(path.trim()), value, spread: false });
  }
  if (op === "remove") throw invalid("noTarget", "A removal requires a path.");
  if (!schema.isObject(value))
    throw invalid("invalidValue", "A change without a path must have an object as its value.");
  const names = Object.keys(value);
  if (names.length > bounds.scimOperationsMax) throw invalid("invalidValue", "The value has too many names.");
  return names.flatMap((name) => {
    if (name.toLowerCase() === "schemas") return [];
    return spreadExtension({ op, path: readPath(name), value: value[name], spread: true });
  });
}

/** An operation on the whole extension becomes one for each name in its value. */
function spreadExtension(operation: ScimOperation): readonly ScimOperation[] {
  const { op, path, value } = operation;
  if (path.schema === null || path.attribute !== "" || op === "remove" || !schema.isObject(value)) return [operation];
  return Object.keys(value)
    .slice(0, bounds.scimOperationsMax)
    .map((attribute) => ({
      op,
      path: { schema: path.schema, attribute, filter: null, part: null },
      value: value[attribute],
      spread: true,
    }));
}

type Value = Record<string, unknown>;

const plainAttributes = [...schema.commonAttributes, ...schema.userAttributes];

/** Applies the operations to a user in order. Unknown attributes are ignored. */
export function patchedUser(resource: UserResource, operations: readonly ScimOperation[]): UserResource {
  for (const operation of operations) patchOnce(resource, operation);
  return resource;
}

function patchOnce(resource: UserResource, operation: ScimOperation): void {
  const { path, op } = operation;
  const extended = path.schema !== null;
  if (extended && path.schema?.toLowerCase() !== schema.enterpriseSchemaId.toLowerCase()) return;
  if (extended && path.attribute === "") {
    if (op === "remove") delete resource[schema.enterpriseSchemaId];
    return;
  }
  const attribute = schema.attributeNamed(extended ? schema.enterpriseAttributes : plainAttributes, path.attribute);
  if (attribute === null) return;
  if (attribute.readOnly === true) {
    if (operation.spread) return;
    throw invalid("mutability", `${attribute.name} cannot be changed.`);
  }
  if (!extended) {
    change(resource, attribute, operation);
    return;
  }
  const extension = { ...((resource[schema.enterpriseSchemaId] ?? {}) as Value) };
  change(extension, attribute, operation);
  if (Object.keys(extension).length === 0) delete resource[schema.enterpriseSchemaId];
  else resource[schema.enterpriseSchemaId] = extension;
}

function change(holder: Value, attribute: schema.ScimAttribute, operation: ScimOperation): void {
  const { op, path, value } = operation;
  const part = path.part === null ? null : partOf(attribute, path.part);
  if (path.part !== null && part === null) return;
  if (attribute.multiValued === true) {
    if (path.filter === null && part === null) changeList(holder, attribute, operation);
    else changeChosen(holder, attribute, operation, part);
    return;
  }
  if (path.filter !== null)
    throw invalid("invalidPath", `${attribute.name} has a single value, so a filter is not allowed.`);
  if (part === null) {
    changeOne(holder, attribute, operation);
    return;
  }
  const held = { ...((holder[attribute.name] ?? {}) as Value) };
  if (op === "remove") delete held[part.name];
  else schema.setAttribute(held, part, value);
  schema.setAttribute(holder, attribute, held);
}

/** null means "unassigned" (RFC 7643, 2.5), like a removal. */
function changeOne(holder: Value, attribute: schema.ScimAttribute, { op, value }: ScimOperation): void {
  if (op === "remove" || value === undefined || value === null) {
    remove(holder, attribute);
    return;
  }
  // RFC 7644, 3.5.2.1: unnamed parts of a complex attribute are kept.
  const held = holder[attribute.name];
  const isPartly = attribute.type === "complex" && schema.isObject(value) && schema.isObject(held);
  schema.setAttribute(holder, attribute, isPartly ? { ...held, ...value } : value);
}

function remove(holder: Value, attribute: schema.ScimAttribute): void {
  if (attribute.required === true || attribute.name === "active") {
    throw invalid("mutability", `${attribute.name} cannot be removed.`);
  }
  delete holder[attribute.name];
}

function changeList(holder: Value, attribute: schema.ScimAttribute, { op, value }: ScimOperation): void {
  const sent = op === "remove" ? [] : ((schema.readValue(attribute, value) ?? []) as readonly Value[]);
  const values = op === "add" ? mergeValues(valuesIn(holder, attribute), sent) : sent;
  schema.setAttribute(holder, attribute, values);
}

/** Changes the values that a filter selects, or all, or a part of each. */
function changeChosen(
  holder: Value,
  attribute: schema.ScimAttribute,
  { op, path, value }: ScimOperation,
  part: schema.ScimAttribute | null,
): void {
  const values = valuesIn(holder, attribute);
  const { filter } = path;
  const chosen = values.filter((each) => filter === null || matchesFilter(filter, each));
  if (op === "remove") {
    for (const each of chosen) if (part !== null) delete each[part.name];
    schema.setAttribute(holder, attribute, part === null ? values.filter((each) => !chosen.includes(each)) : values);
    return;
  }
  if (chosen.length === 0) {
    if (op === "replace" && filter !== null) {
      throw invalid("noTarget", `The filter matches no value of ${attribute.name}.`);
    }
    const made = filter === null ? {} : valueFromFilter(filter);
    values.push(made);
    chosen.push(made);
  }
  for (const each of chosen) {
    if (part !== null) schema.setAttribute(each, part, value);
    else Object.assign(each, schema.isObject(value) ? value : { value });
  }
  const primary = chosen.find((each) => each["primary"] === true);
  for (const each of values) {
    if (primary !== undefined && each !== primary && each["primary"] === true) each["primary"] = false;
  }
  schema.setAttribute(holder, attribute, values);
}

function valuesIn(holder: Value, attribute: schema.ScimAttribute): Value[] {
  return ((holder[attribute.name] ?? []) as readonly Value[]).map((each) => ({ ...each }));
}

/** Adds no duplicates, and a new primary value replaces the old one. */
function mergeValues(values: readonly Value[], added: readonly Value[]): readonly Value[] {
  const same = (one: Value, other: Value) =>
    String(one["value"]).toLowerCase() === String(other["value"]).toLowerCase() && one["type"] === other["type"];
  const primary = added.some((each) => each["primary"] === true);
  const unchanged = values
    .filter((each) => !added.some((other) => same(each, other)))
    .map((each) => (primary && each["primary"] === true ? { ...each, primary: false } : each));
  return [...unchanged, ...added];
}

/** The attributes of a new value that a filter implies: `type eq "work"` gives that type. */
function valueFromFilter(filter: ScimFilter): Value {
  if (filter.kind === "and") return Object.assign({}, ...filter.parts.map(valueFromFilter));
  return filter.kind === "compare" && filter.comparison === "eq" ? { [filter.path]: filter.value } : {};
}

function partOf(attribute: schema.ScimAttribute, name: string): schema.ScimAttribute | null {
  if (attribute.parts === undefined) throw invalid("invalidPath", `${attribute.name} has no parts.`);
  return schema.attributeNamed(attribute.parts, name);
}

/** The result of a PATCH. Members are separate, so that adding one does not read a large group. */
export function groupChangeOf(operations: readonly ScimOperation[]): ScimGroupChange {
  const change: { displayName?: string; externalId?: string | null; members: ScimMemberChange[] } = { members: [] };
  for (const operation of operations) {
    const { op, path, value, spread } = operation;
    const name = path.schema === null ? path.attribute.toLowerCase() : "";
    if (name === "members") change.members.push(membersOf(operation));
    else if (name === "displayname") {
      if (op === "remove") throw invalid("mutability", "displayName cannot be removed.");
      change.displayName = groupName(value);
    } else if (name === "externalid") change.externalId = op === "remove" ? null : externalIdOf(value);
    else if ((name === "id" || name === "meta") && !spread)
      throw invalid("mutability", `${path.attribute} cannot be changed.`);
  }
  return change;
}

function membersOf({ op, path, value }: ScimOperation): ScimMemberChange {
  if (path.filter !== null) {
    if (op !== "remove") throw invalid("mutability", "Members can be added or removed, but not changed.");
    return { what: "remove", userIds: chosenIds(path.filter) };
  }
  if (path.part !== null && path.part.toLowerCase() !== "value") {
    throw invalid("invalidPath", "Only the value of a member can be changed.");
  }
  if (op === "remove") {
    // Entra ID sends the members to remove as the value; by the RFC a removal without a filter removes all.
    return value === undefined || value === null
      ? { what: "set", userIds: [] }
      : { what: "remove", userIds: userIdsOf(value) };
  }
  return { what: op === "replace" ? "set" : "add", userIds: userIdsOf(value) };
}

/** `members[value eq "…"]`, also several joined by `or`. */
function chosenIds(filter: ScimFilter): readonly string[] {
  if (filter.kind === "or") return filter.parts.flatMap(chosenIds);
  const plain = filter.kind === "compare" && filter.comparison === "eq" && filter.path === "value";
  if (plain && typeof filter.value === "string") return [filter.value];
  throw invalid("invalidPath", 'Select members with members[value eq "<id>"].');
}
