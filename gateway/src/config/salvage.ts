import { type ConfigFile, configSchema } from "@sluice/contract/config-file";
import { z } from "zod";

/**
 * Returns the readable part of a configuration that violates the schema, so that names and references can still be checked. Lists keep
 * their indexes, and invalid names are kept because others may refer to them. Missing required texts get a placeholder that nothing
 * refers to.
 */
export function salvageConfig(data: unknown): ConfigFile {
  let count = 0;
  const placeholder = () => `${placeholderStart}${count++}`;
  return (salvage(configSchema, data, "", placeholder) ?? {}) as ConfigFile;
}

/** Fields with the name of an object, or a reference to one. */
export const nameFields: ReadonlySet<string> = new Set(["id", "name", "slug", "kind", "provider", "group", "email"]);

/** Whether a name is a placeholder for one that could not be read. */
export function isPlaceholder(name: string): boolean {
  return name.startsWith(placeholderStart);
}

const placeholderStart = "\u0000";

function salvage(schema: unknown, value: unknown, field: string, placeholder: () => string): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return salvageObject(inner, value, placeholder);
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(value)) return undefined;
    const empty = () =>
      unwrapped(inner.element) instanceof z.ZodObject ? salvage(inner.element, {}, "", placeholder) : "";
    return value.map((each) => salvage(inner.element, each, "", placeholder) ?? empty());
  }
  if (!(inner instanceof z.ZodType)) return undefined;
  const read = inner.safeParse(value);
  if (read.success) return read.data;
  return typeof value === "string" && nameFields.has(field) ? value : undefined;
}

function salvageObject(schema: z.ZodObject, value: unknown, placeholder: () => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: Record<string, unknown> = {};
  for (const [field, each] of Object.entries(schema.shape)) {
    const read = Object.hasOwn(value, field) ? salvage(each, Reflect.get(value, field), field, placeholder) : undefined;
    if (read !== undefined) found[field] = read;
    else if (each instanceof z.ZodOptional) continue;
    else if (each instanceof z.ZodArray) found[field] = [];
    else if (each instanceof z.ZodString || each instanceof z.ZodStringFormat) found[field] = placeholder();
    else if (each instanceof z.ZodEnum) found[field] = each.options[0];
    else return undefined;
  }
  return found;
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema;
}
