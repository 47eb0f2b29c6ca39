/** A problem in a config file. Line and column count from 1; they are 0 if the file cannot be read. */
export interface Problem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** `models[0].deployments[1].provider`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** All problems of a config file, in the order of its lines. Messages contain no secrets. */
export class ConfigInvalid extends Error {
  override readonly name = "ConfigInvalid";
  readonly file: string;
  readonly problems: readonly Problem[];
  /** Number of further problems. */
  readonly unlisted: number;

  constructor(file: string, problems: readonly Problem[], listedMax: number) {
    const sorted = inOrder(problems);
    const [first] = sorted;
    const others = problems.length - 1;
    const more = others === 0 ? "" : ` (and ${others} more ${others === 1 ? "problem" : "problems"})`;
    super(first === undefined ? `${file} is invalid` : `${problemLine(first)}${more}`);
    this.file = file;
    this.problems = Object.freeze(sorted.slice(0, listedMax));
    this.unlisted = Math.max(0, problems.length - listedMax);
  }

  /** One line per problem. */
  get lines(): readonly string[] {
    const lines = this.problems.map((problem) => problemLine(problem));
    return this.unlisted > 0 ? [...lines, `${this.file}: ${this.unlisted} more problems`] : lines;
  }
}

/** Sorts problems by their position in the file. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

/** `models[0].name`, `settings["a b"]`. */
export function dataPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (typeof step === "string" && /^[\w$-]+$/.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(String(step))}]`;
  }
  return text;
}

export function problemLine(problem: Problem, word = ""): string {
  const at = problem.line > 0 ? `:${problem.line}:${problem.column}` : "";
  const path = problem.path === "" ? "" : `${problem.path}: `;
  return `${problem.file}${at}: ${word}${path}${problem.message}`;
}

/** All problems of the environment. Each names its variable and does not contain its value. */
export class EnvironmentInvalid extends Error {
  override readonly name = "EnvironmentInvalid";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}
