import { z } from "zod";
import { configSchema } from "./config.ts";

/** The fields that the object at `path` of a config file, or a part of it, may have; none when its fields are free or it is no object. */
export function configFieldsAt(path: readonly PropertyKey[], root: z.ZodType = configSchema): readonly string[] {
  let schema: unknown = root;
  for (const step of path) {
    const outer = unwrapped(schema);
    if (outer instanceof z.ZodArray) schema = outer.element;
    else if (outer instanceof z.ZodObject) schema = Reflect.get(outer.shape, step);
    else return [];
  }
  const at = unwrapped(schema);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap()) : schema;
}
