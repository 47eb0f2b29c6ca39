import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import { deleteRows, findRows } from "../rows.ts";

export type RightRow = Row<"granted_rights">;

export type GrantedRole = NonNullable<RightRow["role"]>;

/** Instead of a workspace id: the right of an administrator. */
export const installation = "";

/** The source of roles that were set by hand. They have a row only where another source grants a role too. */
export const manualSource = "manual";

export async function rightRowsOf(connection: Connection, userId: string): Promise<readonly RightRow[]> {
  return await findRows(connection, "granted_rights", { user_id: userId }, "source", "workspace_id");
}

export function highestRole(rows: readonly RightRow[]): GrantedRole | null {
  return rows.reduce<GrantedRole | null>((highest, { role }) => (rank(role) > rank(highest) ? role : highest), null);
}

export function rank(role: GrantedRole | null): number {
  if (role === null) return -1;
  return role === "administrator" ? 0 : workspaceRoles.indexOf(role);
}

export function manualRow(userId: string, workspaceId: string, role: GrantedRole): RightRow {
  return { user_id: userId, source: manualSource, workspace_id: workspaceId, role, group_id: null, rules: "" };
}

interface ManualRole {
  readonly userId: string;
  readonly workspaceId: string;
  /** null: removed. */
  readonly role: GrantedRole | null;
  readonly email: string;
}

/** Throws `conflict` if another source grants a higher role, since it would grant it again. */
export async function setManualRole(
  connection: Connection,
  { userId, workspaceId, role, email }: ManualRole,
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  const granted = rows.filter(({ source }) => source !== manualSource);
  const highest = highestRole(granted);
  if (highest === null) return;
  if (rank(role) < rank(highest)) {
    const by = granted.find((row) => row.role === highest);
    const grantor = `${sourceName(by?.source ?? "")} (${by?.rules})`;
    const message = `${email} has the role ${highest} from ${grantor}. Set a higher role, or change the rules there.`;
    throw new Failure("conflict", message);
  }
  await replaceManualRole(connection, userId, workspaceId, rank(role) > rank(highest) ? role : null);
}

/** Records a role that was set by hand, so that it stays when other sources change theirs. */
export async function addManualRole(
  connection: Connection,
  { userId, workspaceId, role }: { readonly userId: string; readonly workspaceId: string; readonly role: GrantedRole },
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  if (rows.every(({ source }) => source === manualSource)) return;
  const held = rows.find(({ source }) => source === manualSource)?.role ?? null;
  if (rank(held) >= rank(role)) return;
  await replaceManualRole(connection, userId, workspaceId, role);
}

/** The user keeps their roles, which then belong to no source. */
export async function deleteRightRows(connection: Connection, userId: string): Promise<void> {
  await deleteRows(connection, "granted_rights", { user_id: userId });
}

/** The name of a source in messages. */
export function sourceName(source: string): string {
  return source.startsWith("oidc:") ? `single sign-on ${source.slice("oidc:".length)}` : "SCIM";
}

export function isWorkspaceRole(role: GrantedRole | null): role is WorkspaceRole {
  return role !== null && role !== "administrator";
}

async function rolesIn(connection: Connection, userId: string, workspaceId: string): Promise<readonly RightRow[]> {
  const rows = await rightRowsOf(connection, userId);
  return rows.filter((row) => row.workspace_id === workspaceId && row.role !== null);
}

async function replaceManualRole(
  connection: Connection,
  userId: string,
  workspaceId: string,
  role: GrantedRole | null,
): Promise<void> {
  await deleteRows(connection, "granted_rights", { user_id: userId, source: manualSource, workspace_id: workspaceId });
  if (role === null) return;
  await connection
    .insertInto("granted_rights")
    .values(manualRow(userId, workspaceId, role))
    .execute();
}
