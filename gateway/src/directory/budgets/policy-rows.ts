import type { BudgetConfig, PolicyMatchConfig } from "@sluice/contract/config-file";
import {
  type Budget,
  type BudgetPolicy,
  budgetOfConfig,
  configOfBudget,
  type PolicyMatch,
  type PolicySplit,
  withoutUndefined,
} from "#core/index.ts";
import type { AuditedObject, Row } from "#storage/tables.ts";
import type { ControlWrite } from "../store.ts";
import { slugIn } from "../workspaces/workspace-rows.ts";

export type PolicyRow = Row<"budget_policies">;

/** A policy to store. In `match`, workspaces, groups, keys and people are ids. */
export interface PolicyDraft extends BudgetConfig {
  readonly name: string;
  readonly enabled?: boolean | undefined;
  readonly split_by?: string | null | undefined;
  readonly match?: PolicyMatchConfig | undefined;
}

/** A stored policy. */
export interface PolicyRecord extends BudgetPolicy {
  readonly enabled: boolean;
  readonly managed_by: PolicyRow["managed_by"];
  readonly created_at: number;
}

/** The column `definition`. */
interface Definition {
  readonly budget: Budget;
  readonly match: PolicyMatch;
  readonly splitBy: PolicySplit | null;
}

/** `slugs`: the workspace's slug, or the slugs of several workspaces by id. */
export function policyObject(slugs: string | ReadonlyMap<string, string>): AuditedObject<"budget_policies"> {
  return {
    table: "budget_policies",
    idColumn: "id",
    label: ({ workspace_id, name }) =>
      workspace_id === null ? `budget ${name}` : `budget ${slugIn(slugs, workspace_id)}/${name}`,
    view: ({ definition, ...row }) => {
      const { budget, match, splitBy } = JSON.parse(definition) as Definition;
      return { ...row, ...configOfBudget(budget), match, split_by: splitBy, enabled: row.enabled === 1 };
    },
    workspaceOf: (row) => row.workspace_id,
    notify: (log) => log.configChanged(),
  };
}

/** `before` undefined: a new policy. */
export function policyRow(
  { ids, at, owner }: Pick<ControlWrite, "ids" | "at" | "owner">,
  workspaceId: string | null,
  draft: PolicyDraft,
  before?: PolicyRow,
): PolicyRow {
  return {
    ...{ id: before?.id ?? ids.next("bgt_"), workspace_id: workspaceId, name: draft.name },
    definition: JSON.stringify(definitionOf(draft)),
    enabled: draft.enabled === false ? 0 : 1,
    managed_by: owner,
    created_at: before?.created_at ?? at,
  };
}

/** In a fixed member order, so that equal definitions are equal text. */
function definitionOf(draft: PolicyDraft): Definition {
  const { workspaces, groups, keys, people, models, providers, tags } = draft.match ?? {};
  const values = tags && Object.entries(tags).map(([name, value]) => [name, [value].flat()] as const);
  const match = { workspaces, groups, keys, people, models, providers };
  return {
    budget: budgetOfConfig(draft),
    match: withoutUndefined({ ...match, tags: values && Object.fromEntries(values.toSorted()) }),
    splitBy: (draft.split_by ?? null) as PolicySplit | null,
  };
}

export function policyRecord(row: PolicyRow): PolicyRecord {
  const { id, name, workspace_id: workspaceId, managed_by, created_at } = row;
  const definition = JSON.parse(row.definition) as Definition;
  return { ...{ id, name, workspaceId, managed_by, created_at }, ...definition, enabled: row.enabled === 1 };
}

/** A policy for calls. */
export function policyOf(row: PolicyRow): BudgetPolicy {
  const { id, name, workspace_id: workspaceId } = row;
  return Object.freeze({ id, name, workspaceId, ...(JSON.parse(row.definition) as Definition) });
}

export function draftOf({ name, enabled, budget, match, splitBy }: PolicyRecord): PolicyDraft {
  return { name, enabled, ...configOfBudget(budget), match: match as PolicyMatchConfig, split_by: splitBy };
}

/** The stored policy with a change. A null removes a member that may be left out. */
export function changedPolicy(before: PolicyRecord, change: Partial<PolicyDraft>): PolicyDraft {
  return { ...draftOf(before), ...change };
}
