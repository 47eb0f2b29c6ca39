import type { RightsRule } from "./rights-rules.ts";

/** What the schema of one rule cannot see; null: nothing is wrong. */
export function ruleFault(rule: RightsRule): string | null {
  const matches = [rule.equals, rule.one_of, rule.contains, rule.matches].filter((each) => each !== undefined);
  if (matches.length !== 1) return "give one of equals, one_of, contains and matches";
  if (rule.administrator === true) {
    const placed = rule.workspace !== undefined || rule.role !== undefined || rule.group !== undefined;
    return placed ? "an administrator goes without workspace, role and group: they have every workspace" : null;
  }
  if (rule.workspace === undefined) return "say what it gives: administrator, or a workspace with a role or a group";
  return rule.role === undefined && rule.group === undefined ? "a workspace goes with a role, a group or both" : null;
}
