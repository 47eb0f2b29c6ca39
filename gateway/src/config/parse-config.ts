import { type ConfigFile, configSchema } from "@sluice/contract/config-file";
import { type Conflict, conflictsOf } from "@sluice/contract/words";
import { controlCharacters, controlsMessage, keyConflicts } from "#core/index.ts";
import { ConfigInvalid, dataPath, inOrder, type Problem } from "./config-invalid.ts";
import { type Expansion, expandVariables, type Variables } from "./expand-variables.ts";
import { isPlaceholder, nameFields, salvageConfig } from "./salvage.ts";
import { type SchemaIssue, type SchemaProblem, schemaProblems, valueAt } from "./schema-problems.ts";
import { readYaml, type YamlSource } from "./yaml-source.ts";

/** Maximum number of nodes that aliases expand to. */
const configAliasesMax = 100;

/** Maximum number of listed problems. */
const configProblemsMax = 100;

/** A rule that the schema does not cover, such as which provider types exist. Messages must not contain secrets. */
export type ConfigCheck = (config: ConfigFile) => readonly Conflict[];

/** Returns a frozen, valid configuration. Throws `ConfigInvalid` with all problems. `file`: its name in messages. */
export function parseConfig(text: string, file: string, variables: Variables, checks: readonly ConfigCheck[] = []) {
  return parseWithWarnings(text, file, variables, checks).config;
}

/** The same, with the problems that `warn` finds in a valid configuration, in the order of its lines. */
export function parseWithWarnings(
  text: string,
  file: string,
  variables: Variables,
  checks: readonly ConfigCheck[],
  warn: ConfigCheck = () => [],
): { readonly config: ConfigFile; readonly warnings: readonly Problem[] } {
  if (/^\s*$/.test(text)) refuse(file, [{ file, line: 0, column: 0, path: "", message: emptyMessage }]);
  const source = readYaml(text);
  const faults = source.faults.map((fault) => ({ ...fault, file, path: "" }));
  if (faults.length > 0) refuse(file, faults);
  const expansion = expandVariables(source.document, variables);
  const data = toData(source, file);
  let parsed = configSchema.safeParse(data);
  if (!parsed.success && convertVariables(parsed.error.issues, data, source, expansion)) {
    parsed = configSchema.safeParse(data);
  }
  const reported = new ReportedProblems();
  const problems = [...expansionProblems(source, expansion, data, file, reported)];
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      if (isRedundant(issue, parsed.error.issues)) continue;
      if (expansion.refused.has(source.nodeAt(issue.path))) continue;
      for (const found of schemaProblems(issue, data)) {
        reported.add(found);
        problems.push(located(found, source, expansion, file));
      }
    }
  }
  for (const path of controlCharacters(data)) {
    const found = { path, message: controlsMessage };
    if (!reported.isNew(found, {})) continue;
    reported.add(found);
    problems.push(located(found, source, expansion, file));
  }
  const config = parsed.success ? parsed.data : salvageConfig(data);
  for (const check of [conflictsOf, keyConflicts, ...checks]) {
    for (const conflict of check(config)) {
      if (!reported.isNew(conflict, config)) continue;
      problems.push(located(conflict, source, expansion, file));
    }
  }
  if (problems.length > 0 || !parsed.success) refuse(file, problems);
  const warnings = warn(parsed.data).map((found) => located(found, source, expansion, file));
  return { config: deepFreeze(parsed.data), warnings: inOrder(warnings) };
}

/**
 * Converts values of variables to the number or boolean that the schema expects: `rpm: ${RPM}`. Returns whether `data` was changed.
 */
function convertVariables(
  issues: readonly SchemaIssue[],
  data: unknown,
  source: YamlSource,
  { used }: Expansion,
): boolean {
  let changed = false;
  for (const issue of issues) {
    if (issue.code !== "invalid_type" || !used.has(source.nodeAt(issue.path))) continue;
    const name = issue.path.at(-1);
    const parent = valueAt(data, issue.path.slice(0, -1));
    if (name === undefined || typeof parent !== "object" || parent === null) continue;
    const converted = convertedValue(issue.expected, Reflect.get(parent, name));
    if (converted === undefined) continue;
    Reflect.set(parent, name, converted);
    changed = true;
  }
  return changed;
}

function convertedValue(expected: string, text: unknown): number | boolean | undefined {
  if (typeof text !== "string") return undefined;
  if (expected === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  return (expected === "number" || expected === "int") && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** A number that is not a safe integer also exceeds the field's own maximum. */
function isRedundant(issue: SchemaIssue, issues: readonly SchemaIssue[]): boolean {
  if (issue.code !== "too_big" || issue.maximum !== Number.MAX_SAFE_INTEGER) return false;
  const path = issue.path.join("\n");
  return issues.some((other) => other !== issue && other.code === "too_big" && other.path.join("\n") === path);
}

const emptyMessage = "the file is empty; write {} for a configuration without objects";

function refuse(file: string, problems: readonly Problem[]): never {
  throw new ConfigInvalid(file, problems, configProblemsMax);
}

function toData(source: YamlSource, file: string): unknown {
  try {
    return withoutExtensions(source.document.toJS({ maxAliasCount: configAliasesMax }));
  } catch {
    const message = `aliases (\`*name\`) expand to too many nodes, or a merge (\`<<\`) refers to something that is not an object`;
    refuse(file, [{ file, ...source.positionOf([]), path: "", message }]);
  }
}

/** Removes top-level `x-…` fields, which hold anchors, as in Compose files. */
function withoutExtensions(data: unknown): unknown {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([name]) => !name.startsWith("x-")));
}

function located(found: SchemaProblem, source: YamlSource, expansion: Expansion, file: string): Problem {
  const position =
    found.unknownField === undefined
      ? source.positionOf(found.path)
      : source.positionOfKey(found.path, found.unknownField);
  const names = expansion.used.get(source.nodeAt(found.path)) ?? [];
  const origin = names.length === 0 ? "" : ` (the value comes from ${names.map((name) => `\${${name}}`).join(", ")})`;
  return { file, ...position, path: dataPath(found.path), message: `${expansion.mask(found.message)}${origin}` };
}

/** Problems of scalars that could not be expanded. An alias may give a scalar several paths; each problem is listed once. */
function expansionProblems(
  source: YamlSource,
  expansion: Expansion,
  data: unknown,
  file: string,
  reported: ReportedProblems,
): readonly Problem[] {
  if (expansion.refused.size === 0) return [];
  const problems: Problem[] = [];
  const seen = new Set<unknown>();
  const visit = (value: unknown, path: readonly PropertyKey[]): void => {
    if (typeof value === "object" && value !== null) {
      for (const [key, child] of Object.entries(value))
        visit(child, [...path, Array.isArray(value) ? Number(key) : key]);
      return;
    }
    if (typeof value !== "string" || !value.includes("${")) return;
    const node = source.nodeAt(path);
    if (expansion.refused.has(node)) reported.add({ path });
    if (seen.has(node)) return;
    seen.add(node);
    for (const message of expansion.refused.get(node) ?? []) {
      problems.push({ file, ...source.positionOf(path), path: dataPath(path), message });
    }
  };
  visit(data, []);
  return problems;
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const child of Object.values(value)) deepFreeze(child);
  }
  return value;
}

type Path = readonly PropertyKey[];

/** Remembers problems with a file's shape, to suppress conflicts that only repeat or follow from them. */
class ReportedProblems {
  readonly #paths: Path[] = [];
  #unknownSection = false;

  add(problem: Pick<SchemaProblem, "path" | "unknownField">): void {
    if (problem.unknownField === undefined) this.#paths.push(problem.path);
    else if (problem.path.length === 0) this.#unknownSection = true;
  }

  /** False if the conflict is at a reported path, or refers to a name that may be in a part that could not be read. */
  isNew({ path, refers }: Conflict, config: Readonly<Record<string, unknown>>): boolean {
    if (this.#paths.some((problem) => begins(path, problem))) return false;
    if (refers === undefined) return true;
    if (refers.length === 1 && this.#unknownSection && config[String(refers[0])] === undefined) return false;
    // The list, an object in it or an object's name could not be read: it may be the one that is referred to.
    return !this.#paths.some((problem) => {
      if (begins(refers, problem)) return true;
      if (!begins(problem, refers)) return false;
      return (
        problem.length === refers.length + 1 || (problem.length === refers.length + 2 && isUnreadName(config, problem))
      );
    });
  }
}

function isUnreadName(config: unknown, path: Path): boolean {
  if (!nameFields.has(String(path.at(-1)))) return false;
  const value = valueAt(config, path);
  return typeof value !== "string" || isPlaceholder(value) || value.includes("${");
}

function begins(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((step, index) => step === path[index]);
}
