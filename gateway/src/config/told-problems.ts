import type { Conflict } from "@sluice/contract/words";
import { isNameless, nameFields } from "./salvage.ts";
import type { SchemaProblem } from "./schema-problems.ts";

type Path = readonly PropertyKey[];

/** What was said of a file's shape, so that no conflict says it again or follows from it alone. */
export class ToldProblems {
  readonly #paths: Path[] = [];
  #unknownSection = false;

  tell(problem: Pick<SchemaProblem, "path" | "unknownField">): void {
    if (problem.unknownField === null) this.#paths.push(problem.path);
    else if (problem.path.length === 0) this.#unknownSection = true;
  }

  /** Whether a conflict is news: not about a place that was told, and not about a name that may stand in one. */
  isNews({ path, refers }: Conflict, config: Readonly<Record<string, unknown>>): boolean {
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
  const value = path.reduce(
    (at: unknown, step) => (typeof at === "object" && at !== null ? Reflect.get(at, step) : undefined),
    config,
  );
  return typeof value !== "string" || isNameless(value) || value.includes("${");
}

function begins(path: Path, start: Path): boolean {
  return start.length <= path.length && start.every((step, index) => step === path[index]);
}
