import { type ConfigFile, configSchema } from "@sluice/contract/config-file";
import { type Conflict, conflictsOf } from "@sluice/contract/words";
import { keyConflicts } from "#core/index.ts";
import { ConfigInvalid, dataPath, inOrder, type Problem } from "./config-invalid.ts";
import { type Expansion, expandVariables, type Variables } from "./expand-variables.ts";
import { isNameless, nameFields, salvageConfig } from "./salvage.ts";
import { type SchemaIssue, type SchemaProblem, schemaProblems, valueAt } from "./schema-problems.ts";
import { readYaml, type YamlSource } from "./yaml-source.ts";

/** Nesting of a config file, and how many nodes its aliases may stand for. */
const configAliasesMax = 100;

/** Problems of one config file that are listed; the rest are counted. */
const configProblemsMax = 100;

/** A rule that the schema cannot see, such as which kinds of provider exist. Messages must hold no secret. */
export type ConfigCheck = (config: ConfigFile) => readonly Conflict[];

/** Text to a frozen, valid configuration. Throws ConfigInvalid with everything that is wrong. `file` names it in messages. */
export function parseConfig(text: string, file: string, variables: Variables, checks: readonly ConfigCheck[] = []) {
  return parseWithWarnings(text, file, variables, checks).config;
}

/** The same, with what `warn` finds in a configuration that is valid, in the order of its lines. */
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
  if (!parsed.success && typeVariables(parsed.error.issues, data, source, expansion)) {
    parsed = configSchema.safeParse(data);
  }
  const told = new ReportedProblems();
  const problems = [...expansionProblems(source, expansion, data, file, told)];
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      if (isRedundant(issue, parsed.error.issues)) continue;
      if (expansion.refused.has(source.nodeAt(issue.path))) continue;
      for (const found of schemaProblems(issue, data)) {
        told.tell(found);
        problems.push(located(found, source, expansion, file));
      }
    }
  }
  const config = parsed.success ? parsed.data : salvageConfig(data);
  for (const check of [conflictsOf, keyConflicts, ...checks]) {
    for (const conflict of check(config)) {
      if (!told.isNew(conflict, config)) continue;
      problems.push(located(conflict, source, expansion, file));
    }
  }
  if (problems.length > 0 || !parsed.success) refuse(file, problems);
  const warnings = warn(parsed.data).map((found) => located(found, source, expansion, file));
  return { config: deepFreeze(parsed.data), warnings: inOrder(warnings) };
}

/**
 * Variables are texts. Where the schema wants a number, or true or false, and a variable holds one, it becomes one: `rpm: ${RPM}`.
 * True when something was changed in `data`.
 */
function typeVariables(
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
    const typed = typedValue(issue.expected, Reflect.get(parent, name));
    if (typed === undefined) continue;
    Reflect.set(parent, name, typed);
    changed = true;
  }
  return changed;
}

function typedValue(expected: string, text: unknown): number | boolean | undefined {
  if (typeof text !== "string") return undefined;
  if (expected === "boolean") return text === "true" ? true : text === "false" ? false : undefined;
  return (expected === "number" || expected === "int") && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : undefined;
}

/** A number beyond what can be counted is beyond the field's own bound too. */
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
    // Two things end here: aliases that stand for too much, and a merge key whose value is not a map.
    const message = `an alias (\`*name\`) is used too often, or a merge (\`<<\`) names something that is not an object`;
    refuse(file, [{ file, ...source.positionOf([]), path: "", message }]);
  }
}

/** `x-…` at the top holds what is used elsewhere by an alias, as in Compose files. */
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

/** A scalar that could not be expanded, under every path that leads to it (an alias gives more than one). */
function expansionProblems(
  source: YamlSource,
  expansion: Expansion,
  data: unknown,
  file: string,
  told: ReportedProblems,
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
    if (expansion.refused.has(node)) told.tell({ path });
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

/** What was said of a file's shape, so that no conflict says it again or follows from it alone. */
class ReportedProblems {
  readonly #paths: Path[] = [];
  #unknownSection = false;

  tell(problem: Pick<SchemaProblem, "path" | "unknownField">): void {
    if (problem.unknownField === undefined) this.#paths.push(problem.path);
    else if (problem.path.length === 0) this.#unknownSection = true;
  }

  /** Whether a conflict is news: not about a place that was told, and not about a name that may stand in one. */
  isNew({ path, refers }: Conflict, config: Readonly<Record<string, unknown>>): boolean {
    if (this.#paths.some((told) => begins(path, told))) return false;
    if (refers === undefined) return true;
    if (refers.length === 1 && this.#unknownSection && config[String(refers[0])] === undefined) return false;
    // The name of an object could not be read, or an object, or the whole list: it may be the one that is meant.
    return !this.#paths.some((told) => {
      if (begins(refers, told)) return true;
      if (!begins(told, refers)) return false;
      return told.length === refers.length + 1 || (told.length === refers.length + 2 && isUnreadName(config, told));
    });
  }
}

function isUnreadName(config: unknown, path: Path): boolean {
  if (!nameFields.has(String(path.at(-1)))) return false;
  const value = valueAt(config, path);
  return typeof value !== "string" || isNameless(value) || value.includes("${");
}

function begins(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((step, index) => step === path[index]);
}
