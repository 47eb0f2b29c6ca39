import type { FormField, FormFields } from "../form-fields.ts";
import type { RequestFields } from "../request-fields.ts";
import type { JsonSchema } from "./types.ts";

/** JSON Schema of a request body or form, generated from its table of fields. */
export function schemaOf(fields: RequestFields | FormFields): JsonSchema {
  const entries = Object.entries<FormField>(fields);
  const required = entries.flatMap(([name, field]) => (field.required === true ? [name] : []));
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, propertyOf(field)])),
    additionalProperties: true,
  };
}

function propertyOf({ required: _, must: _must, file, ...schema }: FormField): JsonSchema {
  if (file === undefined) return schema;
  return file === "one" ? { ...bytes, ...schema } : { type: "array", items: bytes, ...schema };
}

const bytes: JsonSchema = { type: "string", format: "binary" };
