import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import { deleteRows, findRows } from "../rows.ts";

export type GivenRow = Row<"given_rights">;

export type HeldRole = NonNullable<GivenRow["role"]>;

/** In place of a workspace id: the right of an administrator. */
export const installation = "";

/** The source of roles given by hand. They have a row only where another source gives a role too. */
export const manualSource = "manual";

export async function givenRows(connection: Connection, userId: string): Promise<readonly GivenRow[]> {
  return await findRows(connection, "given_rights", { user_id: userId }, "source", "workspace_id");
}

/** null: none. */
export function highestRole(rows: readonly GivenRow[]): HeldRole | null {
  return rows.reduce<HeldRole | null>((highest, { role }) => (rank(role) > rank(highest) ? role : highest), null);
}

export function rank(role: HeldRole | null): number {
  if (role === null) return -1;
  return role === "administrator" ? 0 : workspaceRoles.indexOf(role);
}

export function manualRow(userId: string, workspaceId: string, role: HeldRole): GivenRow {
  return { user_id: userId, source: manualSource, workspace_id: workspaceId, role, group_id: null, rules: "" };
}

interface ManualRole {
  readonly userId: string;
  readonly workspaceId: string;
  /** null: removed. */
  readonly role: HeldRole | null;
  readonly email: string;
}

/** Throws `conflict` when a source gives a higher role, since it would give it again. */
export async function setManualRole(
  connection: Connection,
  { userId, workspaceId, role, email }: ManualRole,
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  const given = rows.filter(({ source }) => source !== manualSource);
  const highest = highestRole(given);
  if (highest === null) return;
  if (rank(role) < rank(highest)) {
    const [by] = given.filter((row) => row.role === highest);
    throw new Failure(
      "conflict",
      `${email} is ${highest} here by ${sourceName(by?.source ?? "")} (${by?.rules}). Only a higher role can be set by hand. Change it there.`,
    );
  }
  await deleteManualRole(connection, userId, workspaceId);
  if (role !== null && rank(role) > rank(highest)) {
    await connection
      .insertInto("given_rights")
      .values(manualRow(userId, workspaceId, role))
      .execute();
  }
}

/** Keeps a role that was given by hand, whatever other sources give later. */
export async function addManualRole(
  connection: Connection,
  { userId, workspaceId, role }: { readonly userId: string; readonly workspaceId: string; readonly role: HeldRole },
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  if (rows.every(({ source }) => source === manualSource)) return;
  const held = rows.find(({ source }) => source === manualSource)?.role ?? null;
  if (rank(held) >= rank(role)) return;
  await deleteManualRole(connection, userId, workspaceId);
  await connection
    .insertInto("given_rights")
    .values(manualRow(userId, workspaceId, role))
    .execute();
}

/** The user's roles stay, and belong to no source from now on. */
export async function deleteGivenRights(connection: Connection, userId: string): Promise<void> {
  await deleteRows(connection, "given_rights", { user_id: userId });
}

/** For messages. */
export function sourceName(source: string): string {
  return source.startsWith("oidc:") ? `single sign-on ${source.slice("oidc:".length)}` : "SCIM";
}

export function isWorkspaceRole(role: HeldRole | null): role is WorkspaceRole {
  return role !== null && role !== "administrator";
}

async function rolesIn(connection: Connection, userId: string, workspaceId: string): Promise<readonly GivenRow[]> {
  const rows = await givenRows(connection, userId);
  return rows.filter((row) => row.workspace_id === workspaceId && row.role !== null);
}

async function deleteManualRole(connection: Connection, userId: string, workspaceId: string): Promise<void> {
  await deleteRows(connection, "given_rights", { user_id: userId, source: manualSource, workspace_id: workspaceId });
}
