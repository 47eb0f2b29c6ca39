import { matches } from "../../components/patterns-input.tsx";

export interface Reach {
  readonly callable: readonly string[];
  /** Models that match the key's patterns but are blocked by its group or workspace. */
  readonly heldByWorkspace: readonly string[];
  readonly heldByGroup: readonly string[];
}

export interface ReachPatterns {
  readonly workspace: readonly string[];
  readonly group: readonly string[];
  /** The key's patterns; null: it has none. */
  readonly own: readonly string[] | null;
}

/** Which models a key would reach: a name must pass the workspace, the group and the key. */
export function reachOf(names: readonly string[], { workspace, group, own }: ReachPatterns): Reach {
  const passes = (patterns: readonly string[], name: string) => patterns.some((pattern) => matches(pattern, name));
  const wanted = own === null ? names : names.filter((name) => passes(own, name));
  const inWorkspace = wanted.filter((name) => passes(workspace, name));
  return {
    callable: inWorkspace.filter((name) => passes(group, name)),
    heldByWorkspace: wanted.filter((name) => !passes(workspace, name)),
    heldByGroup: inWorkspace.filter((name) => !passes(group, name)),
  };
}
