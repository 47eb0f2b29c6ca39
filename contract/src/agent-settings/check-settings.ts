import { agentSettingsSchema, type SettingsSchema, type SettingsType } from "./settings-schema.ts";

/** A problem of a field. `path`: such as `permissions.allow[0]`. */
export interface SettingsRemark {
  readonly path: string;
  readonly code: "type" | "unknown" | "value" | "rule" | "env_name" | "first_model";
  /** For `type`: the expected types. For `value`: the recognized values. */
  readonly expected: readonly string[];
}

export interface SettingsCheck {
  /** Any error refuses the settings. */
  readonly errors: readonly SettingsRemark[];
  /** Warnings do not: an agent may support fields that this list does not have. */
  readonly warnings: readonly SettingsRemark[];
}

const remarksMax = 100;
const pathLengthMax = 200;

/** Checks settings against the part of Claude Code's schema that we have. */
export function checkAgentSettings(settings: Readonly<Record<string, unknown>>): SettingsCheck {
  const errors: SettingsRemark[] = [];
  const warnings: SettingsRemark[] = [];
  const add = (list: SettingsRemark[], remark: SettingsRemark) => {
    if (list.length < remarksMax) list.push({ ...remark, path: remark.path.slice(0, pathLengthMax) });
  };
  const walk = (value: unknown, schema: SettingsSchema, path: string): void => {
    const types = schema.type === undefined ? [] : [schema.type].flat();
    if (types.length > 0 && !types.some((type) => isOf(type as SettingsType, value))) {
      add(errors, { path, code: "type", expected: types });
    } else if (typeof value === "string") {
      const values = schema.enum;
      if (values !== undefined && !values.includes(value)) add(warnings, { path, code: "value", expected: values });
      else if (isRule.test(path) && !ruleShape.test(value)) add(warnings, { path, code: "rule", expected: [] });
    } else if (Array.isArray(value)) {
      const { items } = schema;
      if (items !== undefined) for (const [at, item] of value.entries()) walk(item, items, `${path}[${at}]`);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const inner = path === "" ? name : `${path}.${name}`;
        const innerSchema = own(schema.properties, name) ?? schema.additionalProperties;
        if (innerSchema !== undefined) walk(member, innerSchema, inner);
        else if (schema.properties !== undefined) add(warnings, { path: inner, code: "unknown", expected: [] });
        if (path === "env" && !envName.test(name)) add(warnings, { path: inner, code: "env_name", expected: [] });
      }
    }
  };
  walk(settings, agentSettingsSchema, "");
  if (refusesItsFirstModel(settings)) add(warnings, { path: "availableModels", code: "first_model", expected: [] });
  return { errors, warnings };
}

const isRule = /^permissions\.(allow|ask|deny)\[/;
/** A tool, optionally with an argument pattern in parentheses: `Bash(git push *)`, `mcp__github`. */
const ruleShape = /^[A-Za-z_*][\w.*:-]*(\(.+\))?$/s;
const envName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** An agent's built-in default model may not be in the list; its first prompt then fails. A default model or `enforceAvailableModels` avoids this. */
function refusesItsFirstModel(settings: Readonly<Record<string, unknown>>): boolean {
  const models = settings["availableModels"];
  if (!Array.isArray(models) || models.length === 0 || settings["enforceAvailableModels"] === true) return false;
  return typeof settings["model"] !== "string";
}

function isOf(type: SettingsType, value: unknown): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function own<Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined {
  return record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;
}
