import { z } from "zod";
import { configSchema } from "./config.ts";

/** The JSON Schema of the config file as editors want it: what may be written, before variables are put in. */
export function configJsonSchema(): Readonly<Record<string, unknown>> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    io: "input",
    target: "draft-2020-12",
    override: ({ jsonSchema }) => allowVariable(jsonSchema),
  });
  return {
    $schema,
    title: "Sluice configuration",
    description: `Providers, models, workspaces and settings. \${NAME} in a text reads an environment variable.`,
    ...rest,
  };
}

/** As it is stored in `config.schema.json`. */
export function configJsonSchemaText(): string {
  return `${JSON.stringify(configJsonSchema(), null, 2)}\n`;
}

const rules = ["enum", "format", "maxLength", "minLength", "pattern"] as const;
const withVariable = { type: "string", pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" };

/** A text that reads a variable keeps its rule only once the variable is in, which an editor cannot know. */
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
