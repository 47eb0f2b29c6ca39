import type { RightsSource } from "#ports/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { movePersonKeys } from "../agents/agent-keys.ts";
import { readFilePeople } from "../people/file-people.ts";
import { endLostAccess } from "../people/lost-access.ts";
import { deleteMember, lastOwnerProblems, roleOf, upsertMember } from "../people/members.ts";
import { lastAdministratorProblems, userRow } from "../people/people-rows.ts";
import { changeUser } from "../people/users.ts";
import type { Problem } from "../refusals.ts";
import { deleteRows } from "../rows.ts";
import type { Write } from "../store.ts";
import {
  type GrantedRole,
  highestRole,
  installation,
  isWorkspaceRole,
  manualRow,
  manualSource,
  type RightRow,
  rank,
  rightRowsOf,
  sourceName,
} from "./right-rows.ts";

/** A right that a source grants a user. `workspace_id`: a workspace, or `installation`. */
export type GrantedRight = Pick<RightRow, "workspace_id" | "role" | "group_id" | "rules">;

export interface RightsUpdate {
  readonly userId: string;
  readonly source: RightsSource;
  /** All rights that the source grants. Earlier ones that are missing here are removed. */
  readonly rights: readonly GrantedRight[];
  readonly sessionToKeep: string | null;
}

/**
 * Sets the rights that a source grants a user. Returns a message for each right that could not be removed; the next update tries
 * again.
 */
export async function applyRights(context: Write, update: RightsUpdate): Promise<readonly string[]> {
  const { transaction } = context;
  const { userId, source } = update;
  // The config file declares all rights of its users.
  const people = await readFilePeople(transaction);
  if (people.users.includes(userId) || people.suspended.users.includes(userId)) return [];
  const before = await rightRowsOf(transaction, userId);
  const old = before.filter((row) => row.source === source);
  const wanted = update.rights.map((right): RightRow => ({ ...right, user_id: userId, source }));
  const others = before.filter((row) => row.source !== source);
  const workspaceIds = new Set([...old, ...wanted].filter(({ role }) => role !== null).map((row) => row.workspace_id));
  const manual = await manualRowsIn(transaction, userId, before, workspaceIds);
  let rows = [...others, ...manual, ...wanted];
  const changes: RoleChange[] = [];
  for (const workspaceId of workspaceIds) {
    const current = await currentRole(transaction, userId, workspaceId);
    const role = highestRole(rows.filter((row) => row.workspace_id === workspaceId));
    if (role !== current) changes.push({ workspaceId, current, role });
  }
  const problems: string[] = [];
  for (const change of changes.filter(({ current, role }) => rank(role) > rank(current))) {
    await applyRoleChange(context, update, change);
  }
  for (const change of changes.filter(({ current, role }) => rank(role) < rank(current))) {
    const [problem] = await removalProblems(transaction, userId, change);
    if (problem === undefined) {
      await applyRoleChange(context, update, change);
      continue;
    }
    problems.push(`${problem.message} Until then, the right from ${sourceName(source)} stays.`);
    // Keep the row too, so that the right still belongs to the source.
    const retained = old.filter((row) => row.workspace_id === change.workspaceId);
    rows = [...rows.filter((row) => row.source !== source || row.workspace_id !== change.workspaceId), ...retained];
  }
  await writeRows(transaction, userId, before, withoutUnneededManualRows(rows));
  await movePersonKeys(context, userId);
  return problems;
}

interface RoleChange {
  /** Or `installation`. */
  readonly workspaceId: string;
  readonly current: GrantedRole | null;
  readonly role: GrantedRole | null;
}

/** Rows for roles that no source has granted yet, and that were therefore set by hand. */
async function manualRowsIn(
  connection: Connection,
  userId: string,
  before: readonly RightRow[],
  workspaceIds: ReadonlySet<string>,
): Promise<readonly RightRow[]> {
  const rows: RightRow[] = [];
  for (const workspaceId of workspaceIds) {
    if (before.some((row) => row.workspace_id === workspaceId && row.role !== null)) continue;
    const role = await currentRole(connection, userId, workspaceId);
    if (role !== null) rows.push(manualRow(userId, workspaceId, role));
  }
  return rows;
}

async function currentRole(connection: Connection, userId: string, workspaceId: string): Promise<GrantedRole | null> {
  if (workspaceId !== installation) return await roleOf(connection, workspaceId, userId);
  return (await userRow(connection, userId)).administrator === 1 ? "administrator" : null;
}

async function applyRoleChange(
  context: AuditedWrite,
  { userId, sessionToKeep }: RightsUpdate,
  { workspaceId, current, role }: RoleChange,
): Promise<void> {
  if (workspaceId === installation) {
    await changeUser(context, userId, { administrator: role !== null, keys: "disable", sessionToKeep });
  } else if (isWorkspaceRole(role)) {
    await upsertMember(context, { workspaceId, userId, role, sessionToKeep });
    if (rank(role) < rank(current)) await endLostAccess(context, { userId });
  } else {
    await deleteMember(context, { workspaceId, userId, keys: "disable" });
  }
}

/** The reasons why a role cannot be removed. */
async function removalProblems(
  connection: Connection,
  userId: string,
  { workspaceId, current }: RoleChange,
): Promise<readonly Problem[]> {
  if (workspaceId === installation)
    return await lastAdministratorProblems(connection, await userRow(connection, userId));
  return current === "owner" ? await lastOwnerProblems(connection, workspaceId, userId) : [];
}

/** Manual roles need rows only where another source grants a role too. */
function withoutUnneededManualRows(rows: readonly RightRow[]): readonly RightRow[] {
  const withOtherSource = new Set(
    rows.filter((row) => row.source !== manualSource && row.role !== null).map((row) => row.workspace_id),
  );
  return rows.filter((row) => row.source !== manualSource || withOtherSource.has(row.workspace_id));
}

async function writeRows(
  connection: Connection,
  userId: string,
  before: readonly RightRow[],
  after: readonly RightRow[],
): Promise<void> {
  if (textOf(before) === textOf(after)) return;
  await deleteRows(connection, "granted_rights", { user_id: userId });
  if (after.length > 0) await connection.insertInto("granted_rights").values(after).execute();
}

function textOf(rows: readonly RightRow[]): string {
  const texts = rows.map((row) => JSON.stringify([row.source, row.workspace_id, row.role, row.group_id, row.rules]));
  return texts.toSorted().join("\n");
}
