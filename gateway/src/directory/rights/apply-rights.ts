import { Failure } from "#core/index.ts";
import type { RightsSource } from "#ports/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { endAgentSessions, movePersonKeys } from "../agents/agent-keys.ts";
import { readFilePeople } from "../people/file-people.ts";
import { deleteMember, refuseLastOwner, roleOf, upsertMember } from "../people/members.ts";
import { refuseLastAdministrator, userRow } from "../people/people-rows.ts";
import { changeUser } from "../people/users.ts";
import { deleteRows } from "../rows.ts";
import type { Write } from "../store.ts";
import {
  type HeldRole,
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
  const places = new Set([...old, ...wanted].filter(({ role }) => role !== null).map((row) => row.workspace_id));
  const manual = await manualRowsIn(transaction, userId, before, places);
  let rows = [...others, ...manual, ...wanted];
  const changes: RoleChange[] = [];
  for (const place of places) {
    const held = await roleHeldIn(transaction, userId, place);
    const role = highestRole(rows.filter((row) => row.workspace_id === place));
    if (role !== held) changes.push({ place, held, role });
  }
  const problems: string[] = [];
  for (const change of changes.filter(({ held, role }) => rank(role) > rank(held))) {
    await applyRoleChange(context, update, change);
  }
  for (const change of changes.filter(({ held, role }) => rank(role) < rank(held))) {
    const problem = await removalProblem(transaction, userId, change);
    if (problem === null) {
      await applyRoleChange(context, update, change);
      continue;
    }
    problems.push(`${problem} Until then, the right from ${sourceName(source)} stays.`);
    // Keep the row too, so that the right still belongs to the source.
    const retained = old.filter((row) => row.workspace_id === change.place);
    rows = [...rows.filter((row) => row.source !== source || row.workspace_id !== change.place), ...retained];
  }
  await writeRows(transaction, userId, before, withoutUnneededManualRows(rows));
  await movePersonKeys(context, userId);
  return problems;
}

interface RoleChange {
  readonly place: string;
  readonly held: HeldRole | null;
  readonly role: HeldRole | null;
}

/** Rows for roles that no source has granted yet, and that were therefore set by hand. */
async function manualRowsIn(
  connection: Connection,
  userId: string,
  before: readonly RightRow[],
  places: ReadonlySet<string>,
): Promise<readonly RightRow[]> {
  const rows: RightRow[] = [];
  for (const place of places) {
    if (before.some((row) => row.workspace_id === place && row.role !== null)) continue;
    const role = await roleHeldIn(connection, userId, place);
    if (role !== null) rows.push(manualRow(userId, place, role));
  }
  return rows;
}

async function roleHeldIn(connection: Connection, userId: string, place: string): Promise<HeldRole | null> {
  if (place !== installation) return await roleOf(connection, place, userId);
  return (await userRow(connection, userId)).administrator === 1 ? "administrator" : null;
}

async function applyRoleChange(
  context: AuditedWrite,
  { userId, sessionToKeep }: RightsUpdate,
  { place, role, held }: RoleChange,
): Promise<void> {
  if (place === installation) {
    await changeUser(context, userId, { administrator: role !== null, keys: "disable", sessionToKeep });
  } else if (isWorkspaceRole(role)) {
    await upsertMember(context, { workspaceId: place, userId, role, sessionToKeep });
    if (rank(role) < rank(held)) await endAgentSessions(context, { userId });
  } else {
    await deleteMember(context, { workspaceId: place, userId, keys: "disable" });
  }
}

/** The reason why a role cannot be removed; null: it can. */
async function removalProblem(
  connection: Connection,
  userId: string,
  { place, held }: RoleChange,
): Promise<string | null> {
  try {
    if (place === installation) await refuseLastAdministrator(connection, await userRow(connection, userId));
    else if (held === "owner") await refuseLastOwner(connection, place, userId);
    return null;
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.code === "conflict") return thrown.message;
    throw thrown;
  }
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
