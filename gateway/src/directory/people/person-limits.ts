import type { BudgetConfig, LimitsConfig } from "@sluice/contract/config-file";
import type { LimitScope } from "#core/index.ts";
import {
  type AuditedWrite,
  budgetOf,
  type Connection,
  changedScope,
  contains,
  limitsOf,
  personScope,
  type ScopeColumns,
  scopeColumns,
} from "#storage/tables.ts";
import { budgetProblems } from "../budgets/fallback-models.ts";
import { refuseProblems } from "../refusals.ts";
import { deleteRows, findRow, putRow } from "../rows.ts";
import type { Directory } from "../store.ts";
import { slugOf, userRow } from "./people-rows.ts";

/** A field that is left out does not change. */
export interface PersonLimitChange {
  readonly limits?: LimitsConfig | undefined;
  readonly budget?: BudgetConfig | null | undefined;
}

const unlimited = scopeColumns(undefined, null);

/** Sets the limits of a person in a workspace, and invalidates the keys that count against them in every process. */
export async function setPersonLimits(
  { transaction, log }: AuditedWrite,
  workspaceId: string,
  userId: string,
  change: PersonLimitChange,
): Promise<void> {
  const before = await limitColumns(transaction, workspaceId, userId);
  refuseProblems(await budgetProblems(transaction, change.budget, before));
  const after = changedScope(before, change);
  if (after.limits === before.limits && after.budget === before.budget) return;
  const { email } = await userRow(transaction, userId);
  const slug = await slugOf(transaction, workspaceId);
  const place = { workspace_id: workspaceId, user_id: userId };
  if (after.limits === unlimited.limits && after.budget === null) {
    await deleteRows(transaction, "person_limits", place);
  } else {
    await putRow(transaction, "person_limits", place, after);
  }
  const view = (columns: ScopeColumns) => ({
    user_id: userId,
    email,
    limits: limitsOf(columns),
    budget: columns.budget === null ? null : JSON.parse(columns.budget),
  });
  log.record("update", `member ${slug}/${email}`, view(before), view(after), workspaceId);
  const keys = await transaction
    .selectFrom("api_keys")
    .select(["digest", "old_digest"])
    .where("workspace_id", "=", workspaceId)
    .where((eb) => eb.or([eb("person_id", "=", userId), eb("owner_id", "=", userId)]))
    .where("revoked_at", "is", null)
    .execute();
  for (const key of keys) {
    log.keyChanged(key.digest);
    log.keyChanged(key.old_digest);
  }
}

export async function hasPersonLimits(connection: Connection, workspaceId: string, userId: string): Promise<boolean> {
  const { limits, budget } = await limitColumns(connection, workspaceId, userId);
  return limits !== unlimited.limits || budget !== null;
}

async function limitColumns(connection: Connection, workspaceId: string, userId: string): Promise<ScopeColumns> {
  const row = await findRow(connection, "person_limits", { workspace_id: workspaceId, user_id: userId });
  return row ?? unlimited;
}

/** null columns: the person has no limits. */
export function personLimitsView(row: { readonly limits: string | null; readonly budget: string | null }) {
  const columns = { limits: row.limits ?? unlimited.limits, budget: row.budget };
  return { limits: limitsOf(columns), budget: budgetOf(columns) };
}

interface LimitedPersonFilter {
  readonly workspaceId: string | null;
  readonly userIds?: readonly string[] | undefined;
  /** Part of the address or the name. */
  readonly search?: string | undefined;
}

/** People with limits, ordered by workspace and address. */
export async function limitedPeople(
  { database }: Directory,
  { workspaceId, userIds, search }: LimitedPersonFilter,
  limit: number,
): Promise<readonly { readonly workspaceId: string; readonly userId: string; readonly scope: LimitScope }[]> {
  if (userIds?.length === 0) return [];
  let query = database.kysely
    .selectFrom("person_limits")
    .innerJoin("workspaces", "workspaces.id", "person_limits.workspace_id")
    .innerJoin("auth_users", "auth_users.id", "person_limits.user_id")
    .select(["person_limits.workspace_id", "person_limits.user_id", "person_limits.limits", "person_limits.budget"])
    .select(["workspaces.slug", "auth_users.email", "auth_users.name"])
    .orderBy("workspaces.slug")
    .orderBy("auth_users.email")
    .limit(limit);
  if (workspaceId !== null) query = query.where("person_limits.workspace_id", "=", workspaceId);
  if (userIds !== undefined) query = query.where("person_limits.user_id", "in", [...userIds]);
  if (search !== undefined && search !== "") {
    query = query.where((eb) =>
      eb.or([contains(eb.ref("auth_users.email"), search), contains(eb.ref("auth_users.name"), search)]),
    );
  }
  return (await query.execute()).map(({ workspace_id: workspaceId, user_id: userId, slug, email, ...columns }) => ({
    workspaceId,
    userId,
    scope: personScope(workspaceId, userId, `${slug}/${email}`, columns),
  }));
}
