import { z } from "zod";
import { configSchema } from "./config.ts";
import { type KindSetting, providerKindSettings } from "./provider-kinds.ts";

/** The JSON Schema of the config file for editors: what may be written, before variables are replaced. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => allowVariable(jsonSchema),
  });
  nameKinds(rest);
  return {
    $schema,
    title: "Sluice configuration",
    description: `Providers, models, workspaces and settings. \${NAME} in a text reads an environment variable.`,
    ...rest,
    // Definitions for YAML aliases.
    patternProperties: { "^x-": {} },
  };
}

/** Adds the provider types and their settings. The gateway checks them after the schema; editors need them in it. */
function nameKinds(schema: JsonObject): void {
  const provider = at(schema, "properties", "providers", "items");
  const kind = at(provider, "properties", "kind");
  const { description } = kind;
  for (const name of Object.keys(kind)) delete kind[name];
  Object.assign(kind, {
    description,
    anyOf: [{ type: "string", enum: Object.keys(providerKindSettings) }, withVariable],
  });
  provider["allOf"] = Object.entries(providerKindSettings).map(([id, settings]) => ({
    if: { type: "object", properties: { kind: { const: id } }, required: ["kind"] },
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    then: {
      type: "object",
      properties: {
        settings: {
          type: "object",
          properties: Object.fromEntries(
            Object.entries(settings).map(([name, setting]) => [name, settingSchema(setting)]),
          ),
          additionalProperties: false,
        },
      },
    },
  }));
}

function settingSchema({ type, help, options }: KindSetting): JsonObject {
  const description = help === null ? {} : { description: help };
  const text = options === null ? { type: "string" } : { anyOf: [{ type: "string", enum: options }, withVariable] };
  if (type === "list") return { ...description, type: "array", items: text };
  if (type === "boolean" || type === "number") return { ...description, type: [type, "null"] };
  return { ...description, ...(options === null ? { type: ["string", "null"] } : text) };
}

type JsonObject = Record<string, unknown>;

function at(schema: JsonObject, ...path: readonly string[]): JsonObject {
  return path.reduce((inner, step) => inner[step] as JsonObject, schema);
}

/** As it is stored in `config.schema.json`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

const rules = ["enum", "format", "maxLength", "minLength", "pattern"] as const;
const withVariable = { type: "string", pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" };

/** Editors cannot check a text with a variable against its rule, so they accept any. */
function allowVariable(schema: Record<string, unknown>): void {
  if (schema["type"] !== "string") return;
  const rule: Record<string, unknown> = { type: "string" };
  for (const name of rules) {
    if (!(name in schema)) continue;
    rule[name] = schema[name];
    delete schema[name];
  }
  // An empty text is never a variable, so a rule that only forbids it can stay as it is.
  const onlyNotEmpty = Object.keys(rule).length === 2 && rule["minLength"] === 1;
  if (onlyNotEmpty) schema["minLength"] = 1;
  if (onlyNotEmpty || Object.keys(rule).length === 1) return;
  delete schema["type"];
  schema["anyOf"] = [rule, withVariable];
}
