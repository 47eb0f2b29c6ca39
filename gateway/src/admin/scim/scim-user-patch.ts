import type { ScimFilter } from "#directory/index.ts";
import {
  attributeNamed,
  commonAttributes,
  enterpriseAttributes,
  enterpriseSchemaId,
  type ScimAttribute,
  userAttributes,
} from "./scim-attributes.ts";
import { chooses, type ScimOperation } from "./scim-operations.ts";
import { invalid } from "./scim-problem.ts";
import { put, type UserResource } from "./scim-user.ts";
import { isObject, readValue } from "./scim-values.ts";

type Value = Record<string, unknown>;

const known = [...commonAttributes, ...userAttributes];

/** Changes a user's resource in place, one after the other. What is not kept here is passed over, as in a whole body. */
export function patchUser(resource: UserResource, operations: readonly ScimOperation[]): void {
  for (const operation of operations) patchOnce(resource, operation);
}

function patchOnce(resource: UserResource, operation: ScimOperation): void {
  const { path, op } = operation;
  const extended = path.schema !== null;
  if (extended && path.schema?.toLowerCase() !== enterpriseSchemaId.toLowerCase()) return;
  if (extended && path.attribute === "") {
    if (op === "remove") delete resource[enterpriseSchemaId];
    return;
  }
  const attribute = attributeNamed(extended ? enterpriseAttributes : known, path.attribute);
  if (attribute === null) return;
  if (attribute.readOnly === true) {
    if (operation.spread) return;
    throw invalid("mutability", `${attribute.name} cannot be changed.`);
  }
  if (!extended) {
    change(resource, attribute, operation);
    return;
  }
  const extension = { ...((resource[enterpriseSchemaId] ?? {}) as Value) };
  change(extension, attribute, operation);
  if (Object.keys(extension).length === 0) delete resource[enterpriseSchemaId];
  else resource[enterpriseSchemaId] = extension;
}

function change(holder: Value, attribute: ScimAttribute, operation: ScimOperation): void {
  const { op, path, value } = operation;
  const part = path.part === null ? null : partOf(attribute, path.part);
  if (path.part !== null && part === null) return;
  if (attribute.multiValued === true) {
    if (path.filter === null && part === null) changeList(holder, attribute, operation);
    else changeChosen(holder, attribute, operation, part);
    return;
  }
  if (path.filter !== null) throw invalid("invalidPath", `${attribute.name} has one value; none can be chosen.`);
  if (part === null) {
    changeOne(holder, attribute, operation);
    return;
  }
  const held = { ...((holder[attribute.name] ?? {}) as Value) };
  if (op === "remove") delete held[part.name];
  else put(held, part, value);
  put(holder, attribute, held);
}

/** null stands for "unassigned" (RFC 7643, 2.5), as a removal does. */
function changeOne(holder: Value, attribute: ScimAttribute, { op, value }: ScimOperation): void {
  if (op === "remove" || value === undefined || value === null) {
    remove(holder, attribute);
    return;
  }
  // RFC 7644, 3.5.2.1: of a complex attribute, what is not named stays.
  const held = holder[attribute.name];
  const isPartly = attribute.type === "complex" && isObject(value) && isObject(held);
  put(holder, attribute, isPartly ? { ...held, ...value } : value);
}

function remove(holder: Value, attribute: ScimAttribute): void {
  if (attribute.required === true || attribute.name === "active") {
    throw invalid("mutability", `${attribute.name} cannot be removed.`);
  }
  delete holder[attribute.name];
}

function changeList(holder: Value, attribute: ScimAttribute, { op, value }: ScimOperation): void {
  const given = op === "remove" ? [] : ((readValue(attribute, value) ?? []) as readonly Value[]);
  const values = op === "add" ? together(valuesIn(holder, attribute), given) : given;
  put(holder, attribute, values);
}

/** Changes those values that a filter chooses, or all of them; or a part of each. */
function changeChosen(
  holder: Value,
  attribute: ScimAttribute,
  { op, path, value }: ScimOperation,
  part: ScimAttribute | null,
): void {
  const values = valuesIn(holder, attribute);
  const { filter } = path;
  const chosen = values.filter((each) => filter === null || chooses(filter, each));
  if (op === "remove") {
    for (const each of chosen) if (part !== null) delete each[part.name];
    put(holder, attribute, part === null ? values.filter((each) => !chosen.includes(each)) : values);
    return;
  }
  if (chosen.length === 0) {
    if (op === "replace" && filter !== null) {
      throw invalid("noTarget", `No value of ${attribute.name} is chosen by the filter.`);
    }
    const made = filter === null ? {} : namedBy(filter);
    values.push(made);
    chosen.push(made);
  }
  for (const each of chosen) {
    if (part !== null) put(each, part, value);
    else Object.assign(each, isObject(value) ? value : { value });
  }
  const primary = chosen.find((each) => each["primary"] === true);
  for (const each of values) {
    if (primary !== undefined && each !== primary && each["primary"] === true) each["primary"] = false;
  }
  put(holder, attribute, values);
}

function valuesIn(holder: Value, attribute: ScimAttribute): Value[] {
  return ((holder[attribute.name] ?? []) as readonly Value[]).map((each) => ({ ...each }));
}

/** An added value that is there already is there once, and a new primary one takes the place of the old. */
function together(values: readonly Value[], given: readonly Value[]): readonly Value[] {
  const same = (one: Value, other: Value) =>
    String(one["value"]).toLowerCase() === String(other["value"]).toLowerCase() && one["type"] === other["type"];
  const primary = given.some((each) => each["primary"] === true);
  const kept = values
    .filter((each) => !given.some((other) => same(each, other)))
    .map((each) => (primary && each["primary"] === true ? { ...each, primary: false } : each));
  return [...kept, ...given];
}

/** What a filter says of the value that it looks for: `type eq "work"` makes one of that type. */
function namedBy(filter: ScimFilter): Value {
  if (filter.kind === "and") return Object.assign({}, ...filter.parts.map(namedBy));
  return filter.kind === "compare" && filter.comparison === "eq" ? { [filter.path]: filter.value } : {};
}

function partOf(attribute: ScimAttribute, name: string): ScimAttribute | null {
  if (attribute.parts === undefined) throw invalid("invalidPath", `${attribute.name} has no parts.`);
  return attributeNamed(attribute.parts, name);
}
