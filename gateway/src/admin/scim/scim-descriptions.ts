import { bounds } from "#core/index.ts";
import {
  commonAttributes,
  enterpriseAttributes,
  enterpriseSchemaId,
  groupAttributes,
  groupSchemaId,
  type ScimAttribute,
  userAttributes,
  userSchemaId,
} from "./scim-attributes.ts";
import type { JsonObject } from "./scim-values.ts";

/** What is served, as RFC 7643, 5 has it. */
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
        description: "A SCIM token, made in the console under Settings.",
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

/** Where a directory finds SCIM, on the port of the admin API. */
export const scimPath = "/scim/v2";
