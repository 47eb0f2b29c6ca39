import { Failure } from "#core/index.ts";
import type { RightsSource } from "#ports/index.ts";
import type { AuditedWrite, Connection } from "#storage/tables.ts";
import { endAgentSessions, movePersonKeys } from "../agents/agent-persons.ts";
import { readFilePeople } from "../people/file-people.ts";
import { deleteMember, refuseLastOwner, roleOf, upsertMember } from "../people/members.ts";
import { refuseLastAdministrator, userRow } from "../people/people-rows.ts";
import { changeUser } from "../people/users.ts";
import { deleteRows } from "../rows.ts";
import type { Write } from "../store.ts";
import {
  type GivenRow,
  givenRows,
  type HeldRole,
  highestRole,
  installation,
  isWorkspaceRole,
  manualRow,
  manualSource,
  rank,
  sourceName,
} from "./given-rows.ts";

/** A right that a source gives a user. `workspace_id`: a workspace, or `installation`. */
export type GivenRight = Pick<GivenRow, "workspace_id" | "role" | "group_id" | "rules">;

export interface RightsUpdate {
  readonly userId: string;
  readonly source: RightsSource;
  /** All rights that the source gives. Earlier ones that are missing here are removed. */
  readonly given: readonly GivenRight[];
  readonly sessionToKeep: string | null;
}

/**
 * Sets the rights that a source gives a user. Returns, as sentences, which rights could not be removed; the next update tries
 * again.
 */
export async function applyRights(context: Write, giving: RightsUpdate): Promise<readonly string[]> {
  const { transaction } = context;
  const { userId, source } = giving;
  // The config file declares all rights of its users.
  const people = await readFilePeople(transaction);
  if (people.users.includes(userId) || people.suspended.users.includes(userId)) return [];
  const before = await givenRows(transaction, userId);
  const old = before.filter((row) => row.source === source);
  const wanted = giving.given.map((given): GivenRow => ({ ...given, user_id: userId, source }));
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
  const kept: string[] = [];
  for (const change of changes.filter(({ held, role }) => rank(role) > rank(held))) {
    await applyRoleChange(context, giving, change);
  }
  for (const change of changes.filter(({ held, role }) => rank(role) < rank(held))) {
    const problem = await removalProblem(transaction, userId, change);
    if (problem === null) {
      await applyRoleChange(context, giving, change);
      continue;
    }
    kept.push(`${problem} Until then the right from ${sourceName(source)} stays.`);
    // The row stays too, so that the right still belongs to the source.
    const stays = old.filter((row) => row.workspace_id === change.place);
    rows = [...rows.filter((row) => row.source !== source || row.workspace_id !== change.place), ...stays];
  }
  await writeRows(transaction, userId, before, withoutUnneededManualRows(rows));
  await movePersonKeys(context, userId);
  return kept;
}

interface RoleChange {
  readonly place: string;
  readonly held: HeldRole | null;
  readonly role: HeldRole | null;
}

/** Rows for roles that no source has given yet, and that were therefore given by hand. */
async function manualRowsIn(
  connection: Connection,
  userId: string,
  before: readonly GivenRow[],
  places: ReadonlySet<string>,
): Promise<readonly GivenRow[]> {
  const rows: GivenRow[] = [];
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

/** Why a role cannot be removed; null: it can. */
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

/** Manual roles need rows only where another source gives a role too. */
function withoutUnneededManualRows(rows: readonly GivenRow[]): readonly GivenRow[] {
  const governed = new Set(
    rows.filter((row) => row.source !== manualSource && row.role !== null).map((row) => row.workspace_id),
  );
  return rows.filter((row) => row.source !== manualSource || governed.has(row.workspace_id));
}

async function writeRows(
  connection: Connection,
  userId: string,
  before: readonly GivenRow[],
  after: readonly GivenRow[],
): Promise<void> {
  if (textOf(before) === textOf(after)) return;
  await deleteRows(connection, "given_rights", { user_id: userId });
  if (after.length > 0) await connection.insertInto("given_rights").values(after).execute();
}

function textOf(rows: readonly GivenRow[]): string {
  const texts = rows.map((row) => JSON.stringify([row.source, row.workspace_id, row.role, row.group_id, row.rules]));
  return texts.toSorted().join("\n");
}
