/** An attribute of a resource (RFC 7643, 7). What is not among them is taken and not kept. */
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

const text = (name: string, description: string): ScimAttribute => ({ name, type: "string", description });

export const userAttributes: readonly ScimAttribute[] = [
  {
    name: "userName",
    type: "string",
    description: "What the directory knows the person by. Their address, unless emails has one.",
    required: true,
    unique: true,
  },
  {
    name: "name",
    type: "complex",
    description: "The parts of the name.",
    parts: [
      text("formatted", "The whole name."),
      text("familyName", "The family name."),
      text("givenName", "The given name."),
      text("middleName", "The middle name."),
      text("honorificPrefix", "A title before the name."),
      text("honorificSuffix", "A suffix behind the name."),
    ],
  },
  text("displayName", "What the person is called here."),
  text("nickName", "What the person is called by others."),
  text("title", "The person's title."),
  text("userType", "The relation to the organisation."),
  text("preferredLanguage", "A language, as in Accept-Language."),
  text("locale", "A locale, as en-US."),
  text("timezone", "A time zone, as Europe/Berlin."),
  {
    name: "active",
    type: "boolean",
    description: "Whether the person may sign in and call. false ends everything they opened.",
  },
  {
    name: "emails",
    type: "complex",
    description:
      "Addresses. The primary one, else the one of type work, else the first is what the person is known by here.",
    multiValued: true,
    parts: [
      text("value", "The address."),
      text("type", "work, home or other."),
      text("display", "How it is shown."),
      { name: "primary", type: "boolean", description: "Whether it is the main one." },
    ],
  },
  {
    name: "groups",
    type: "complex",
    description: "The groups that the person is a member of.",
    multiValued: true,
    readOnly: true,
    parts: [
      { ...text("value", "The id of the group."), readOnly: true },
      { name: "$ref", type: "reference", description: "Where the group is.", readOnly: true },
      { ...text("display", "The name of the group."), readOnly: true },
      { ...text("type", "direct."), readOnly: true },
    ],
  },
];

export const enterpriseAttributes: readonly ScimAttribute[] = [
  text("employeeNumber", "The number of the person in the organisation."),
  text("costCenter", "The cost centre."),
  text("organization", "The organisation."),
  text("division", "The division."),
  text("department", "The department."),
];

export const groupAttributes: readonly ScimAttribute[] = [
  {
    name: "displayName",
    type: "string",
    description: "The name, which rules give rights by.",
    required: true,
    unique: true,
  },
  {
    name: "members",
    type: "complex",
    description: "Users. Groups in groups are not taken.",
    multiValued: true,
    parts: [
      text("value", "The id of the user."),
      { name: "$ref", type: "reference", description: "Where the user is." },
      text("display", "The name of the user."),
      text("type", "User."),
    ],
  },
];

/** Of every resource. */
export const commonAttributes: readonly ScimAttribute[] = [
  { name: "id", type: "string", description: "The gateway's own id.", readOnly: true, caseExact: true, unique: true },
  { name: "externalId", type: "string", description: "The directory's own id.", caseExact: true },
  {
    name: "meta",
    type: "complex",
    description: "When it was made and changed, and where it is.",
    readOnly: true,
    parts: [
      { ...text("resourceType", "User or Group."), readOnly: true },
      { name: "created", type: "dateTime", description: "When it was made.", readOnly: true },
      { name: "lastModified", type: "dateTime", description: "When it was changed.", readOnly: true },
      { name: "location", type: "reference", description: "Where it is.", readOnly: true },
      { ...text("version", "Another with each change."), readOnly: true },
    ],
  },
];

/** Names are the same in upper and lower case (RFC 7643, 2.1). */
export function attributeNamed(attributes: readonly ScimAttribute[], name: string): ScimAttribute | null {
  const wanted = name.toLowerCase();
  return attributes.find((each) => each.name.toLowerCase() === wanted) ?? null;
}
