import type { RightsRule } from "./rights-rules.ts";

/** Problem of a rule that its schema cannot detect. null: none. */
export function ruleFault(rule: RightsRule): string | null {
  const matches = [rule.equals, rule.one_of, rule.contains, rule.matches].filter((each) => each !== undefined);
  if (matches.length !== 1) return "set one of `equals`, `one_of`, `contains` and `matches`";
  if (rule.administrator === true) {
    const placed = rule.workspace !== undefined || rule.role !== undefined || rule.group !== undefined;
    return placed ? "leave out `workspace`, `role` and `group` for an administrator, who has every workspace" : null;
  }
  if (rule.workspace === undefined) return "set `administrator`, or `workspace` with `role` or `group`";
  return rule.role === undefined && rule.group === undefined ? "set `role`, `group` or both for the workspace" : null;
}
