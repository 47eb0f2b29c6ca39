import { agentSettingsSchema, type SettingsSchema, type SettingsType } from "./settings-schema.ts";

/** What is said of a member, `path` like `permissions.allow[0]`. */
export interface SettingsRemark {
  readonly path: string;
  readonly code: "type" | "unknown" | "value" | "rule" | "env_name" | "first_model";
  /** Of `type`: what it has to be. Of `value`: what is known. */
  readonly expected: readonly string[];
}

export interface SettingsCheck {
  /** With one of these the settings are refused. */
  readonly errors: readonly SettingsRemark[];
  /** With these they are passed on: the agent may know more than is known here. */
  readonly warnings: readonly SettingsRemark[];
}

/** More than anybody reads. */
const remarksMax = 100;
const pathLettersMax = 200;

/** Settings of Claude Code against what is known of its schema. */
export function checkAgentSettings(settings: Readonly<Record<string, unknown>>): SettingsCheck {
  const errors: SettingsRemark[] = [];
  const warnings: SettingsRemark[] = [];
  const add = (list: SettingsRemark[], remark: SettingsRemark) => {
    if (list.length < remarksMax) list.push({ ...remark, path: remark.path.slice(0, pathLettersMax) });
  };
  const walk = (value: unknown, schema: SettingsSchema, path: string): void => {
    const types = schema.type === undefined ? [] : [schema.type].flat();
    if (types.length > 0 && !types.some((type) => isOf(type as SettingsType, value))) {
      add(errors, { path, code: "type", expected: types });
    } else if (typeof value === "string") {
      const known = schema.enum;
      if (known !== undefined && !known.includes(value)) add(warnings, { path, code: "value", expected: known });
      else if (isRule.test(path) && !ruleShape.test(value)) add(warnings, { path, code: "rule", expected: [] });
    } else if (Array.isArray(value)) {
      const { items } = schema;
      if (items !== undefined) for (const [at, item] of value.entries()) walk(item, items, `${path}[${at}]`);
    } else if (typeof value === "object" && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        const inner = path === "" ? name : `${path}.${name}`;
        const known = own(schema.properties, name) ?? schema.additionalProperties;
        if (known !== undefined) walk(member, known, inner);
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
/** A tool, or a tool with what it is about in parentheses: `Bash(git push *)`, `mcp__github`. */
const ruleShape = /^[A-Za-z_*][\w.*:-]*(\(.+\))?$/s;
const envName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** A list of models without the one that an agent starts with refuses each first prompt: it needs a model, or the word that enforces it. */
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
