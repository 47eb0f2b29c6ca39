import type { ModelPatterns, Principal } from "#core/index.ts";

/** Whether a caller may use a model: its workspace, its group and its key must all name it. */
export function mayCall(principal: Principal, model: string): boolean {
  return whyNot(principal, model) === null;
}

/** Which of the three says no, widest first; null when none does. */
export function whyNot(principal: Principal, model: string): "workspace" | "group" | "key" | null {
  if (!matches(principal.workspace.models, model)) return "workspace";
  if (!matches(principal.group.models, model)) return "group";
  if (principal.key.models !== null && !matches(principal.key.models, model)) return "key";
  return null;
}

/** Compiled patterns by their list, which is frozen in the catalog and lives as long as its snapshot. */
const compiled = new WeakMap<ModelPatterns, RegExp>();

export function matches(patterns: ModelPatterns, model: string): boolean {
  let expression = compiled.get(patterns);
  if (expression === undefined) {
    expression = compile(patterns);
    compiled.set(patterns, expression);
  }
  return expression.test(model);
}

/** `*` stands for any run of characters. Runs of stars are one star, so that matching stays linear in practice. */
function compile(patterns: ModelPatterns): RegExp {
  if (patterns.length === 0) return /(?!)/;
  const alternatives = patterns.map((pattern) =>
    pattern
      .split(/\*+/)
      .map((piece) => piece.replace(/[\\^$.|?+()[\]{}]/g, "\\$&"))
      .join("[\\s\\S]*"),
  );
  return new RegExp(`^(?:${alternatives.join("|")})$`);
}
