import { domainToASCII } from "node:url";
import { z } from "zod";
import { bounds } from "#core/index.ts";
import type { ScimGroup, ScimGroupChange, ScimUser, ScimUserForm } from "#directory/index.ts";
import { invalid } from "./scim-problem.ts";
import * as schema from "./scim-schema.ts";

/** Supported attributes in canonical spelling. Attributes of the extension are under the extension's id. */
export type UserResource = Record<string, unknown>;

const writableUserAttributes: readonly schema.ScimAttribute[] = [
  ...schema.commonAttributes,
  ...schema.userAttributes,
].filter(({ readOnly }) => readOnly !== true);

/** Parses a complete user. Read-only and unknown attributes are ignored. */
export function readUserResource(body: unknown): UserResource {
  const sent = schema.objectOf(body, "The body");
  const resource: UserResource = {};
  for (const key of Object.keys(sent)) {
    const own = schema.attributeNamed(
      writableUserAttributes,
      key.replace(new RegExp(`^${schema.userSchemaId}:`, "i"), ""),
    );
    if (own !== null) schema.setAttribute(resource, own, sent[key]);
    else if (key.toLowerCase() === schema.enterpriseSchemaId.toLowerCase() && schema.isObject(sent[key])) {
      const extension = readExtension(sent[key]);
      if (Object.keys(extension).length > 0) resource[schema.enterpriseSchemaId] = extension;
    }
  }
  return resource;
}

function readExtension(sent: schema.JsonObject): Record<string, unknown> {
  const extension: Record<string, unknown> = {};
  for (const key of Object.keys(sent)) {
    const attribute = schema.attributeNamed(schema.enterpriseAttributes, key);
    if (attribute !== null) schema.setAttribute(extension, attribute, sent[key]);
  }
  return extension;
}

export function resourceOf(user: ScimUserForm): UserResource {
  return {
    userName: user.userName,
    ...(user.externalId === null ? {} : { externalId: user.externalId }),
    active: user.active,
    ...structuredClone(user.attributes),
  };
}

/** `before`: a body without `active` does not change it. */
export function userFormOf(resource: UserResource, before: ScimUserForm | null): ScimUserForm {
  const { userName, externalId, active, ...attributes } = resource;
  if (typeof userName !== "string" || userName.trim() === "") throw invalid("invalidValue", "userName is required.");
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

/** Addresses are stored in lower case ASCII, with the domain in its encoded form. */
function addressOf(userName: string, attributes: schema.JsonObject): string {
  const emails = (attributes["emails"] ?? []) as readonly Readonly<Record<string, unknown>>[];
  const chosen =
    emails.find((email) => email["primary"] === true && email["value"] !== undefined) ??
    emails.find((email) => String(email["type"]).toLowerCase() === "work" && email["value"] !== undefined) ??
    emails.find((email) => email["value"] !== undefined);
  const email = chosen === undefined ? userName : String(chosen["value"]).trim();
  const at = email.lastIndexOf("@");
  const address = `${email.slice(0, at)}@${domainToASCII(email.slice(at + 1).toLowerCase())}`;
  if (at > 0 && addressSchema.safeParse(address).success) return address.toLowerCase();
  throw invalid("invalidValue", "An email address is required, in emails or as userName.");
}

const nameCharactersMax = 128;

function nameOf(userName: string, attributes: schema.JsonObject): string {
  const parts = (attributes["name"] ?? {}) as Readonly<Record<string, unknown>>;
  const both = [parts["givenName"], parts["familyName"]].filter((part) => typeof part === "string").join(" ");
  const names = [attributes["displayName"], parts["formatted"], both, userName];
  const name = names.find((each): each is string => typeof each === "string" && each.trim() !== "") ?? userName;
  return name.trim().slice(0, nameCharactersMax).toWellFormed();
}

export interface ScimResource extends schema.JsonObject {
  readonly meta: ReturnType<typeof metaOf>;
}

/** `base`: address of the SCIM API. */
export function shownUser(user: ScimUser, base: string): ScimResource {
  const resource = resourceOf(user);
  const extended = Object.hasOwn(resource, schema.enterpriseSchemaId);
  return {
    schemas: extended ? [schema.userSchemaId, schema.enterpriseSchemaId] : [schema.userSchemaId],
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

/** Weak, since answers may leave attributes out. */
export function versionOf({ version }: { readonly version: number }): string {
  return `W/"${version}"`;
}

export function readGroup(body: unknown): ScimGroupChange & { readonly displayName: string } {
  const sent = schema.objectOf(body, "The body");
  return {
    displayName: groupName(schema.memberOf(sent, "displayName")),
    externalId: externalIdOf(schema.memberOf(sent, "externalId")),
    members: [{ what: "set", userIds: userIdsOf(schema.memberOf(sent, "members") ?? []) }],
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
  if (typeof value === "string") return schema.textOf("members", value);
  const sent = schema.isObject(value) ? value : {};
  if (String(schema.memberOf(sent, "type") ?? "User").toLowerCase() !== "user") {
    throw invalid("invalidValue", "Members must be users. Nested groups are not supported.");
  }
  const id = schema.memberOf(sent, "value");
  if (typeof id !== "string" || id === "") throw invalid("invalidValue", "A member's value must be a user id.");
  return schema.textOf("members", id);
}

export function groupName(value: unknown): string {
  const name = value === undefined || value === null ? "" : schema.textOf("displayName", value).trim();
  if (name === "" || name.length > 256) throw invalid("invalidValue", "displayName must have 1 to 256 characters.");
  return name;
}

export function externalIdOf(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  return schema.textOf("externalId", value);
}

export function shownGroup(group: ScimGroup, base: string): ScimResource {
  const { id, displayName, externalId, members } = group;
  return {
    schemas: [schema.groupSchemaId],
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
