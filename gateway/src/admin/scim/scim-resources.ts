import { domainToASCII } from "node:url";
import { z } from "zod";
import { bounds } from "#core/index.ts";
import type { ScimGroup, ScimGroupChange, ScimUser, ScimUserForm } from "#directory/index.ts";
import { invalid } from "./scim-problem.ts";
import {
  attributeNamed,
  commonAttributes,
  enterpriseAttributes,
  enterpriseSchemaId,
  groupSchemaId,
  isObject,
  type JsonObject,
  memberOf,
  objectOf,
  type ScimAttribute,
  setAttribute,
  textOf,
  userAttributes,
  userSchemaId,
} from "./scim-schema.ts";

/** Attributes under their right names, those of the extension under its own. Only what is kept is in it. */
export type UserResource = Record<string, unknown>;

/** All that a caller may write of a user. */
const writableUserAttributes: readonly ScimAttribute[] = [...commonAttributes, ...userAttributes].filter(
  ({ readOnly }) => readOnly !== true,
);

/** A body that describes a whole user. What is read-only or not known in it is passed over. */
export function readUserResource(body: unknown): UserResource {
  const given = objectOf(body, "The body");
  const resource: UserResource = {};
  for (const key of Object.keys(given)) {
    const own = attributeNamed(writableUserAttributes, key.replace(new RegExp(`^${userSchemaId}:`, "i"), ""));
    if (own !== null) setAttribute(resource, own, given[key]);
    else if (key.toLowerCase() === enterpriseSchemaId.toLowerCase() && isObject(given[key])) {
      const extension = readExtension(given[key]);
      if (Object.keys(extension).length > 0) resource[enterpriseSchemaId] = extension;
    }
  }
  return resource;
}

function readExtension(given: JsonObject): Record<string, unknown> {
  const extension: Record<string, unknown> = {};
  for (const key of Object.keys(given)) {
    const attribute = attributeNamed(enterpriseAttributes, key);
    if (attribute !== null) setAttribute(extension, attribute, given[key]);
  }
  return extension;
}

/** What is stored, as it was last said. */
export function resourceOf(user: ScimUserForm): UserResource {
  return {
    userName: user.userName,
    ...(user.externalId === null ? {} : { externalId: user.externalId }),
    active: user.active,
    ...structuredClone(user.attributes),
  };
}

/** `before`: what is not said stays in one respect: nobody becomes active by a body that says nothing of it. */
export function userFormOf(resource: UserResource, before: ScimUserForm | null): ScimUserForm {
  const { userName, externalId, active, ...attributes } = resource;
  if (typeof userName !== "string" || userName.trim() === "") throw invalid("invalidValue", "userName is needed.");
  return {
    userName: userName.trim(),
    externalId: typeof externalId === "string" && externalId !== "" ? externalId : null,
    active: typeof active === "boolean" ? active : (before?.active ?? true),
    email: addressOf(userName.trim(), attributes),
    name: nameOf(userName.trim(), attributes),
    attributes,
  };
}

const addressSchema = z.email().max(254);

/** As users here have one: ASCII and in lower case, its domain by the name that the network knows. */
function addressOf(userName: string, attributes: JsonObject): string {
  const emails = (attributes["emails"] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const chosen =
    emails.find((email) => email["primary"] === true && email["value"] !== undefined) ??
    emails.find((email) => String(email["type"]).toLowerCase() === "work" && email["value"] !== undefined) ??
    emails.find((email) => email["value"] !== undefined);
  const given = chosen === undefined ? userName : String(chosen["value"]).trim();
  const at = given.lastIndexOf("@");
  const address = `${given.slice(0, at)}@${domainToASCII(given.slice(at + 1).toLowerCase())}`;
  if (at > 0 && addressSchema.safeParse(address).success) return address.toLowerCase();
  throw invalid("invalidValue", "An e-mail address is needed: in emails, or as userName.");
}

const nameCharactersMax = 128;

function nameOf(userName: string, attributes: JsonObject): string {
  const parts = (attributes["name"] ?? {}) as Readonly<Record<string, unknown>>;
  const both = [parts["givenName"], parts["familyName"]].filter((part) => typeof part === "string").join(" ");
  const names = [attributes["displayName"], parts["formatted"], both, userName];
  const name = names.find((each): each is string => typeof each === "string" && each.trim() !== "") ?? userName;
  return name.trim().slice(0, nameCharactersMax).toWellFormed();
}

export interface ScimResource extends JsonObject {
  readonly meta: ReturnType<typeof metaOf>;
}

/** A user as the answer shows one. `base`: where SCIM is served. */
export function shownUser(user: ScimUser, base: string): ScimResource {
  const resource = resourceOf(user);
  const extended = Object.hasOwn(resource, enterpriseSchemaId);
  return {
    schemas: extended ? [userSchemaId, enterpriseSchemaId] : [userSchemaId],
    id: user.id,
    ...resource,
    ...(user.groups.length === 0
      ? {}
      : {
          groups: user.groups.map(({ id, displayName }) => ({
            value: id,
            $ref: `${base}/Groups/${id}`,
            display: displayName,
            type: "direct",
          })),
        }),
    meta: metaOf("User", user, base),
  };
}

function metaOf(
  kind: "User" | "Group",
  item: { readonly id: string; readonly createdAt: number; readonly updatedAt: number; readonly version: number },
  base: string,
) {
  return {
    resourceType: kind,
    created: new Date(item.createdAt).toISOString(),
    lastModified: new Date(item.updatedAt).toISOString(),
    location: `${base}/${kind}s/${item.id}`,
    version: versionOf(item),
  };
}

/** Weak: what is left out of an answer is no other version. */
export function versionOf({ version }: { readonly version: number }): string {
  return `W/"${version}"`;
}

/** A body that describes a whole group. */
export function readGroup(body: unknown): ScimGroupChange & { readonly displayName: string } {
  const given = objectOf(body, "The body");
  return {
    displayName: groupName(memberOf(given, "displayName")),
    externalId: externalIdOf(memberOf(given, "externalId")),
    members: [{ what: "set", userIds: userIdsOf(memberOf(given, "members") ?? []) }],
  };
}

export function userIdsOf(value: unknown): readonly string[] {
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

export function groupName(value: unknown): string {
  const name = value === undefined || value === null ? "" : textOf("displayName", value).trim();
  if (name === "" || name.length > 256) throw invalid("invalidValue", "displayName has 1 to 256 characters.");
  return name;
}

export function externalIdOf(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  return textOf("externalId", value);
}

export function shownGroup(group: ScimGroup, base: string): ScimResource {
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
