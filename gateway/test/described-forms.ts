import type { JsonSchema } from "../../contract/src/openapi/types.ts";
import { bodyOf, brokenBodies } from "./described-bodies.ts";
import { png } from "./endpoints/assets/upload-form.ts";

/** Fields and files of a form, by name. */
export type FormBody = Record<string, unknown>;

/** A form that matches a schema: like a body of the same schema, with a picture for each file. */
export function formBodyOf(schema: JsonSchema, random: () => number): FormBody {
  const body = bodyOf(schema, random);
  for (const name of Object.keys(body)) if (isFile(schema, name)) body[name] = picture();
  return body;
}

/** For each described bound, a valid form with that bound violated. In a form everything is text. */
export function brokenForms(schema: JsonSchema, good: FormBody) {
  return brokenBodies(schema, good).filter(({ what, name }) => {
    const types = [propertyOf(schema, name)?.["type"] ?? []].flat();
    if (isFile(schema, name)) return what === "is missing";
    return what !== "is of another type" || types.every((type) => type === "boolean");
  });
}

export function formOf(body: FormBody): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value instanceof Blob) form.append(name, value, "picture.png");
    else form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form;
}

function isFile(schema: JsonSchema, name: string): boolean {
  const property = propertyOf(schema, name);
  const items = property?.["items"] as JsonSchema | undefined;
  return property?.["format"] === "binary" || items?.["format"] === "binary";
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
  return (schema["properties"] as Readonly<Record<string, JsonSchema>>)[name];
}

function picture(): Blob {
  return new Blob([png(300, 300)], { type: "image/png" });
}
