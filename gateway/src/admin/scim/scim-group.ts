import { bounds } from "#core/index.ts";
import type { ScimFilter, ScimGroup, ScimGroupChange, ScimMemberChange } from "#directory/index.ts";
import { groupSchemaId } from "./scim-attributes.ts";
import type { ScimOperation } from "./scim-operations.ts";
import { invalid } from "./scim-problem.ts";
import { metaOf } from "./scim-user.ts";
import { isObject, type JsonObject, memberOf, objectOf, textOf } from "./scim-values.ts";

/** A body that describes a whole group. */
export function readGroup(body: unknown): ScimGroupChange & { readonly displayName: string } {
  const given = objectOf(body, "The body");
  return {
    displayName: nameOf(memberOf(given, "displayName")),
    externalId: idOf(memberOf(given, "externalId")),
    members: [{ what: "set", userIds: userIdsOf(memberOf(given, "members") ?? []) }],
  };
}

/** What the changes of a PATCH come to. Members are told apart from the rest: nobody has to read a large group to add one. */
export function groupChangeOf(operations: readonly ScimOperation[]): ScimGroupChange {
  const change: { displayName?: string; externalId?: string | null; members: ScimMemberChange[] } = { members: [] };
  for (const operation of operations) {
    const { op, path, value, spread } = operation;
    const name = path.schema === null ? path.attribute.toLowerCase() : "";
    if (name === "members") change.members.push(membersOf(operation));
    else if (name === "displayname") {
      if (op === "remove") throw invalid("mutability", "displayName cannot be removed.");
      change.displayName = nameOf(value);
    } else if (name === "externalid") change.externalId = op === "remove" ? null : idOf(value);
    else if ((name === "id" || name === "meta") && !spread)
      throw invalid("mutability", `${path.attribute} cannot be changed.`);
  }
  return change;
}

function membersOf({ op, path, value }: ScimOperation): ScimMemberChange {
  if (path.filter !== null) {
    if (op !== "remove")
      throw invalid("mutability", "Members are added and removed; one that is there is not changed.");
    return { what: "remove", userIds: chosenIds(path.filter) };
  }
  if (path.part !== null && path.part.toLowerCase() !== "value") {
    throw invalid("invalidPath", "Of members only the value is changed.");
  }
  if (op === "remove") {
    // Entra ID names them in the value; by the RFC a removal has none, and takes all of them.
    return value === undefined || value === null
      ? { what: "set", userIds: [] }
      : { what: "remove", userIds: userIdsOf(value) };
  }
  return { what: op === "replace" ? "set" : "add", userIds: userIdsOf(value) };
}

/** `members[value eq "…"]`, and several of these by `or`. */
function chosenIds(filter: ScimFilter): readonly string[] {
  if (filter.kind === "or") return filter.parts.flatMap(chosenIds);
  const plain = filter.kind === "compare" && filter.comparison === "eq" && filter.path === "value";
  if (plain && typeof filter.value === "string") return [filter.value];
  throw invalid("invalidPath", 'Members are chosen by members[value eq "<id>"].');
}

function userIdsOf(value: unknown): readonly string[] {
  const values = Array.isArray(value) ? value : [value];
  if (values.length > bounds.scimGroupMembersMax) {
    throw invalid("invalidValue", `A group has at most ${bounds.scimGroupMembersMax} members.`);
  }
  return [...new Set(values.map(userIdOf))];
}

function userIdOf(value: unknown): string {
  if (typeof value === "string") return textOf("members", value);
  const given = isObject(value) ? value : {};
  if (String(memberOf(given, "type") ?? "User").toLowerCase() !== "user") {
    throw invalid("invalidValue", "Members are users. Groups in groups are not taken.");
  }
  const id = memberOf(given, "value");
  if (typeof id !== "string" || id === "") throw invalid("invalidValue", "A member has the id of a user as its value.");
  return textOf("members", id);
}

function nameOf(value: unknown): string {
  const name = value === undefined || value === null ? "" : textOf("displayName", value).trim();
  if (name === "" || name.length > 256) throw invalid("invalidValue", "displayName has 1 to 256 characters.");
  return name;
}

function idOf(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  return textOf("externalId", value);
}

/** A group as the answer shows one. */
export function shownGroup(group: ScimGroup, base: string): JsonObject {
  const { id, displayName, externalId, members } = group;
  return {
    schemas: [groupSchemaId],
    id,
    ...(externalId === null ? {} : { externalId }),
    displayName,
    ...(members === null
      ? {}
      : {
          members: members.map((member) => ({
            value: member.id,
            $ref: `${base}/Users/${member.id}`,
            display: member.name,
            type: "User",
          })),
        }),
    meta: metaOf("Group", group, base),
  };
}
