import type { RequestField, RequestFields } from "../request-fields.ts";
import type { JsonSchema } from "./types.ts";

/** The body that a table of the gateway's reader describes. */
export function schemaOf(fields: RequestFields): JsonSchema {
  const entries = Object.entries(fields);
  const required = entries.flatMap(([name, field]) => (field.required === true ? [name] : []));
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, propertyOf(field)])),
    additionalProperties: true,
  };
}

function propertyOf({ required: _, must: _must, ...schema }: RequestField): JsonSchema {
  return schema;
}
