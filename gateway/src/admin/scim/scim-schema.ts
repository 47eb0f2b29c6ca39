import { bounds } from "#core/index.ts";
import { invalid } from "./scim-problem.ts";

/** An attribute of a resource (RFC 7643, 7). Others are accepted and ignored. */
export interface ScimAttribute {
  readonly name: string;
  readonly type: "string" | "boolean" | "complex" | "dateTime" | "reference";
  readonly description: string;
  readonly multiValued?: true;
  readonly required?: true;
  readonly readOnly?: true;
  readonly unique?: true;
  readonly caseExact?: true;
  readonly parts?: readonly ScimAttribute[];
}

export const userSchemaId = "urn:ietf:params:scim:schemas:core:2.0:User";
export const groupSchemaId = "urn:ietf:params:scim:schemas:core:2.0:Group";
export const enterpriseSchemaId = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

const attribute = (
  name: string,
  type: ScimAttribute["type"],
  description: string,
  more: Omit<ScimAttribute, "name" | "type" | "description"> = {},
): ScimAttribute => ({ name, type, description, ...more });
const text = (name: string, description: string): ScimAttribute => attribute(name, "string", description);
const shown = (name: string, type: ScimAttribute["type"], description: string): ScimAttribute =>
  attribute(name, type, description, { readOnly: true });

const nameParts = [
  text("formatted", "The whole name."),
  text("familyName", "The family name."),
  text("givenName", "The given name."),
  text("middleName", "The middle name."),
  text("honorificPrefix", "A prefix of the name."),
  text("honorificSuffix", "A suffix of the name."),
];
const emailParts = [
  text("value", "The address."),
  text("type", "work, home or other."),
  text("display", "The displayed address."),
  attribute("primary", "boolean", "Whether it is the primary address."),
];
const groupParts = [
  shown("value", "string", "The id of the group."),
  shown("$ref", "reference", "The group's URL."),
  shown("display", "string", "The name of the group."),
  shown("type", "string", "direct."),
];
const memberParts = [
  text("value", "The id of the user."),
  attribute("$ref", "reference", "The user's URL."),
  text("display", "The name of the user."),
  text("type", "User."),
];
const metaParts = [
  shown("resourceType", "string", "User or Group."),
  shown("created", "dateTime", "Creation time."),
  shown("lastModified", "dateTime", "Time of the last change."),
  shown("location", "reference", "The resource's URL."),
  shown("version", "string", "Changes with each update."),
];

const userNameHelp = "The directory's user name. Also the email address, unless emails has one.";
const activeHelp = "Whether the person may sign in and call. false also ends their sessions.";
const emailsHelp = "Email addresses. The gateway uses the primary one, else the one of type work, else the first.";
const groupsHelp = "The groups that the person is a member of.";

export const userAttributes: readonly ScimAttribute[] = [
  attribute("userName", "string", userNameHelp, { required: true, unique: true }),
  attribute("name", "complex", "The parts of the name.", { parts: nameParts }),
  text("displayName", "The person's displayed name."),
  text("nickName", "The person's nickname."),
  text("title", "The person's title."),
  text("userType", "The person's relation to the organization."),
  text("preferredLanguage", "A language, as in Accept-Language."),
  text("locale", "A locale, as en-US."),
  text("timezone", "A time zone, as Europe/Berlin."),
  attribute("active", "boolean", activeHelp),
  attribute("emails", "complex", emailsHelp, { multiValued: true, parts: emailParts }),
  attribute("groups", "complex", groupsHelp, { multiValued: true, readOnly: true, parts: groupParts }),
];

export const enterpriseAttributes: readonly ScimAttribute[] = [
  text("employeeNumber", "The person's employee number."),
  text("costCenter", "The cost center."),
  text("organization", "The organization."),
  text("division", "The division."),
  text("department", "The department."),
];

const groupAttributes: readonly ScimAttribute[] = [
  attribute("displayName", "string", "The name, which rights rules refer to.", { required: true, unique: true }),
  attribute("members", "complex", "Users. Nested groups are not supported.", { multiValued: true, parts: memberParts }),
];

const metaHelp = "Creation, last change and URL of the resource.";

export const commonAttributes: readonly ScimAttribute[] = [
  attribute("id", "string", "The gateway's own id.", { readOnly: true, caseExact: true, unique: true }),
  attribute("externalId", "string", "The directory's own id.", { caseExact: true }),
  attribute("meta", "complex", metaHelp, { readOnly: true, parts: metaParts }),
];

/** Names are case-insensitive (RFC 7643, 2.1). */
export function attributeNamed(attributes: readonly ScimAttribute[], name: string): ScimAttribute | null {
  const wanted = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === wanted) ?? null;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Throws invalidSyntax. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw invalid("invalidSyntax", `${what} must be a JSON object.`);
}

/** Case-insensitive member lookup (RFC 7643, 2.1). */
export function memberOf(object: JsonObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((each) => each.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

/**
 * Converts a value to the attribute's type; undefined: unassigned (RFC 7643, 2.5). Accepts numbers as text and "True" as a boolean, since
 * directories send these. Throws invalidValue.
 */
export function readValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (attribute.multiValued !== true) return oneValue(attribute, value);
  const values = Array.isArray(value) ? value : [value];
  if (values.length > bounds.scimValuesMax) {
    throw invalid("invalidValue", `${attribute.name} has at most ${bounds.scimValuesMax} values.`);
  }
  const read = values.map((each) => oneValue(attribute, each)).filter((each) => each !== undefined);
  return read.length === 0 ? undefined : read;
}

function oneValue(attribute: ScimAttribute, value: unknown): unknown {
  if (value === null) return undefined;
  if (attribute.type === "boolean") return truthOf(attribute, value);
  if (attribute.type !== "complex") return textOf(attribute.name, value);
  const object = typeof value === "string" && attribute.multiValued === true ? { value } : value;
  if (!isObject(object)) throw invalid("invalidValue", `${attribute.name} must be an object.`);
  const parts: Record<string, unknown> = {};
  for (const key of Object.keys(object)) {
    const part = attributeNamed(attribute.parts ?? [], key);
    const read = part === null ? undefined : readValue(part, object[key]);
    if (part !== null && read !== undefined) parts[part.name] = read;
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
}

export function textOf(name: string, value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number")
    throw invalid("invalidValue", `${name} must be a string.`);
  const text = String(value);
  if (text.length > bounds.scimTextMax) {
    throw invalid("invalidValue", `${name} has at most ${bounds.scimTextMax} characters.`);
  }
  // PostgreSQL cannot store NUL characters.
  if (text.includes("\u0000") || !text.isWellFormed())
    throw invalid("invalidValue", `${name} contains invalid characters.`);
  return text;
}

function truthOf({ name }: ScimAttribute, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  const word = typeof value === "string" ? value.toLowerCase() : "";
  if (word === "true" || word === "false") return word === "true";
  throw invalid("invalidValue", `${name} must be true or false.`);
}

/** Sets the converted value, or nothing if it is unassigned. */
export function setAttribute(resource: Record<string, unknown>, attribute: ScimAttribute, value: unknown): void {
  const read = readValue(attribute, value);
  if (read === undefined) delete resource[attribute.name];
  else resource[attribute.name] = read;
}

/** The supported features (RFC 7643, 5). */
export function providerConfig(base: string): JsonObject {
  return {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: bounds.scimPageMax },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: "oauthbearertoken",
        name: "Bearer token",
        description: "A SCIM token, created in the console under Settings.",
        specUri: "https://www.rfc-editor.org/rfc/rfc6750",
        primary: true,
      },
    ],
    meta: { resourceType: "ServiceProviderConfig", location: `${base}/ServiceProviderConfig` },
  };
}

export function resourceTypes(base: string): readonly JsonObject[] {
  const type = (name: "User" | "Group", schema: string, more: JsonObject = {}): JsonObject => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
    id: name,
    name,
    endpoint: `/${name}s`,
    schema,
    ...more,
    meta: { resourceType: "ResourceType", location: `${base}/ResourceTypes/${name}` },
  });
  const extended = { schemaExtensions: [{ schema: enterpriseSchemaId, required: false }] };
  return [type("User", userSchemaId, extended), type("Group", groupSchemaId)];
}

export function schemas(base: string): readonly JsonObject[] {
  const external = commonAttributes.filter(({ name }) => name === "externalId");
  const schema = (id: string, name: string, attributes: readonly ScimAttribute[]): JsonObject => ({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:Schema"],
    id,
    name,
    description: name,
    attributes: attributes.map(described),
    meta: { resourceType: "Schema", location: `${base}/Schemas/${id}` },
  });
  return [
    schema(userSchemaId, "User", [...external, ...userAttributes]),
    schema(groupSchemaId, "Group", [...external, ...groupAttributes]),
    schema(enterpriseSchemaId, "EnterpriseUser", enterpriseAttributes),
  ];
}

function described(attribute: ScimAttribute): JsonObject {
  const { name, type, description, multiValued, required, readOnly, unique, caseExact, parts } = attribute;
  return {
    name,
    type,
    multiValued: multiValued === true,
    description,
    required: required === true,
    caseExact: caseExact === true || type === "reference",
    mutability: readOnly === true ? "readOnly" : "readWrite",
    returned: "default",
    uniqueness: unique === true ? "server" : "none",
    ...(type === "reference" ? { referenceTypes: name === "$ref" ? ["User", "Group"] : ["uri"] } : {}),
    ...(parts === undefined ? {} : { subAttributes: parts.map(described) }),
  };
}

/** Path of the SCIM API, on the port of the admin API. */
export const scimPath = "/scim/v2";
