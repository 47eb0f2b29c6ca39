import { type ConfigFile, configSchema } from "@sluice/contract/config-file";
import { z } from "zod";

/**
 * What can be read of a configuration whose shape is wrong somewhere, so that names and references are looked at all the
 * same. Lists keep their places, and a name of a wrong form is still the name that others mean. What is missing and needed is
 * filled with a text that nothing refers to; its own place has been told already.
 */
export function salvageConfig(data: unknown): ConfigFile {
  let unnamed = 0;
  const nameless = () => `${madeUp}${unnamed++}`;
  return (salvage(configSchema, data, "", nameless) ?? {}) as ConfigFile;
}

/** Fields that name an object, here or elsewhere. */
export const nameFields: ReadonlySet<string> = new Set(["id", "name", "slug", "kind", "provider", "group", "email"]);

/** Whether a name was made up for one that could not be read. */
export function isNameless(name: string): boolean {
  return name.startsWith(madeUp);
}

const madeUp = "\u0000";

function salvage(schema: unknown, value: unknown, field: string, nameless: () => string): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodObject) return salvageObject(inner, value, nameless);
  if (inner instanceof z.ZodArray) {
    if (!Array.isArray(value)) return undefined;
    const hole = () =>
      unwrapped(inner.element) instanceof z.ZodObject ? salvage(inner.element, {}, "", nameless) : "";
    return value.map((each) => salvage(inner.element, each, "", nameless) ?? hole());
  }
  if (!(inner instanceof z.ZodType)) return undefined;
  const read = inner.safeParse(value);
  if (read.success) return read.data;
  return typeof value === "string" && nameFields.has(field) ? value : undefined;
}

function salvageObject(schema: z.ZodObject, value: unknown, nameless: () => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: Record<string, unknown> = {};
  for (const [field, each] of Object.entries(schema.shape)) {
    const read = Object.hasOwn(value, field) ? salvage(each, Reflect.get(value, field), field, nameless) : undefined;
    if (read !== undefined) found[field] = read;
    else if (each instanceof z.ZodOptional) continue;
    else if (each instanceof z.ZodArray) found[field] = [];
    else if (each instanceof z.ZodString || each instanceof z.ZodStringFormat) found[field] = nameless();
    else if (each instanceof z.ZodEnum) found[field] = each.options[0];
    else return undefined;
  }
  return found;
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? unwrapped(schema.unwrap()) : schema;
}
