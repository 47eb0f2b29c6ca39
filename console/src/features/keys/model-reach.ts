import type { ConsoleModel } from "@sluice/contract";
import { matches } from "../../components/patterns-input.tsx";

/** Members do not see deployments. */
export type ReachableModel = Pick<ConsoleModel, "name" | "calls" | "fallbacks"> &
  Partial<Pick<ConsoleModel, "deployments">>;

export interface Reach {
  readonly callable: readonly string[];
  /** Models that match the key's patterns but are blocked by its group or workspace. */
  readonly heldByWorkspace: readonly string[];
  readonly heldByGroup: readonly string[];
  /** Models without a price, which are refused always or under a budget. */
  readonly unpriced: readonly string[];
  /** Models that nothing serves. */
  readonly unserved: readonly string[];
}

export interface ReachPatterns {
  readonly workspace: readonly string[];
  readonly group: readonly string[];
  /** The key's patterns; null: it has none. */
  readonly own: readonly string[] | null;
  /** A budget of the key, its owner, its group or its workspace applies. */
  readonly hasBudget: boolean;
}

/** The models that a key would reach: a name must pass the workspace, the group and the key, and the model must be callable. */
export function reachOf(models: readonly ReachableModel[], { workspace, group, own, hasBudget }: ReachPatterns): Reach {
  const passes = (patterns: readonly string[], name: string) => patterns.some((pattern) => matches(pattern, name));
  const wanted = own === null ? models : models.filter(({ name }) => passes(own, name));
  const inWorkspace = wanted.filter(({ name }) => passes(workspace, name));
  const allowed = inWorkspace.filter(({ name }) => passes(group, name));
  const isUnpriced = ({ calls }: ReachableModel) =>
    calls === "blocked" || (hasBudget && calls === "blocked_in_budgets");
  const priced = allowed.filter((model) => !isUnpriced(model));
  return {
    callable: namesOf(priced.filter(isServed)),
    heldByWorkspace: namesOf(wanted.filter(({ name }) => !passes(workspace, name))),
    heldByGroup: namesOf(inWorkspace.filter(({ name }) => !passes(group, name))),
    unpriced: namesOf(allowed.filter(isUnpriced)),
    unserved: namesOf(priced.filter((model) => !isServed(model))),
  };
}

function isServed({ deployments, fallbacks }: ReachableModel): boolean {
  return deployments === undefined || fallbacks.length > 0 || deployments.some(({ enabled }) => enabled);
}

function namesOf(models: readonly ReachableModel[]): readonly string[] {
  return models.map(({ name }) => name);
}
