import { configFieldsAt, type configSchema } from "@sluice/contract/config-file";
import { didYouMean } from "./closest-name.ts";

export interface SchemaProblem {
  readonly path: readonly PropertyKey[];
  /** If the problem is an unknown field, its name; `path` is then the path of the object. */
  readonly unknownField?: string;
  readonly message: string;
}

export type SchemaIssue = NonNullable<ReturnType<typeof configSchema.safeParse>["error"]>["issues"][number];

/** Describes a schema's issue without the value. `schema`: absent, the one of the config file. */
export function schemaProblems(
  issue: SchemaIssue,
  data: unknown,
  schema?: Parameters<typeof configFieldsAt>[1],
): readonly SchemaProblem[] {
  if (issue.code !== "unrecognized_keys") {
    return [{ path: issue.path, message: messageOf(issue, valueAt(data, issue.path)) }];
  }
  const fields = configFieldsAt(issue.path, schema);
  return issue.keys.map((key) => ({
    path: issue.path,
    unknownField: key,
    message: `unknown field \`${shortened(key)}\`${didYouMean(key, fields) || allowed(fields)}`,
  }));
}

/** Lists the allowed fields, unless the list is long. */
function allowed(fields: readonly string[]): string {
  const named = fields.filter((field) => !field.startsWith("$"));
  return named.length === 0 || named.length > fieldsNamedMax ? "" : `; allowed here: ${named.join(", ")}`;
}

const fieldsNamedMax = 16;
const fieldLengthMax = 64;

function shortened(text: string): string {
  return text.length <= fieldLengthMax ? text : `${text.slice(0, fieldLengthMax)}…`;
}

function messageOf(issue: SchemaIssue, value: unknown): string {
  if (value === undefined) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeNames[issue.expected] ?? issue.expected}, not ${describe(value)}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}${nearest(issue.values, value)}`;
    case "too_small":
      return `must ${sizeRule(issue.origin, "at least", Number(issue.minimum), issue.inclusive !== false)}`;
    case "too_big":
      return `must ${sizeRule(issue.origin, "at most", Number(issue.maximum), issue.inclusive !== false)}`;
    case "invalid_format":
      return issue.format in formatNames
        ? `must be ${formatNames[issue.format]}`
        : `invalid format; expected ${issue.message}`;
    default:
      return issue.message;
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

const formatNames: Readonly<Record<string, string>> = {
  url: "a URL such as https://api.example.com/v1",
  datetime: "a time with a time zone, such as 2030-01-31T00:00:00Z",
};

function describe(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return "a string";
  if (typeof value === "boolean") return "true or false";
  if (typeof value !== "number") return `a ${typeof value}`;
  if (!Number.isFinite(value)) return "infinite or not a number";
  return Number.isInteger(value) ? "a number" : "a fraction";
}

function nearest(choices: readonly unknown[], value: unknown): string {
  if (typeof value !== "string") return "";
  return didYouMean(
    value,
    choices.filter((choice) => typeof choice === "string"),
  );
}

function sizeRule(origin: string, bound: string, limit: number, inclusive: boolean): string {
  if (origin === "string") return `have ${bound} ${limit} ${limit === 1 ? "character" : "characters"}`;
  if (origin === "array") return `have ${bound} ${limit} ${limit === 1 ? "entry" : "entries"}`;
  if (inclusive) return `be ${bound} ${limit}`;
  return bound === "at least" ? `be more than ${limit}` : `be less than ${limit}`;
}

export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data;
  for (const step of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}
