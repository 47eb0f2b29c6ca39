import { type WorkspaceRole, workspaceRoles } from "@sluice/contract/words";
import { Failure } from "#core/index.ts";
import type { Connection, Row } from "#storage/tables.ts";
import { deleteRows, findRows } from "../rows.ts";

export type GivenRow = Row<"given_rights">;

export type HeldRole = NonNullable<GivenRow["role"]>;

/** The place of a right that counts everywhere. */
export const installation = "";

/** The source of what somebody holds by hand; it has a row only where another source gives a role too. */
export const byHand = "manual";

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
  return { user_id: userId, source: byHand, workspace_id: workspaceId, role, group_id: null, rules: "" };
}

interface HandChange {
  readonly userId: string;
  readonly workspaceId: string;
  /** null: it is taken away. */
  readonly role: HeldRole | null;
  readonly email: string;
}

/** Somebody's role is set by hand. Throws `conflict` where a source gives more: it would give it again. */
export async function setByHand(
  connection: Connection,
  { userId, workspaceId, role, email }: HandChange,
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  const given = rows.filter(({ source }) => source !== byHand);
  const highest = highestRole(given);
  if (highest === null) return;
  if (rank(role) < rank(highest)) {
    const [by] = given.filter((row) => row.role === highest);
    throw new Failure(
      "conflict",
      `${email} is ${highest} here by ${sourceName(by?.source ?? "")} (${by?.rules}). By hand they only get more; change it there.`,
    );
  }
  await dropManual(connection, userId, workspaceId);
  if (role !== null && rank(role) > rank(highest)) {
    await connection
      .insertInto("given_rights")
      .values(manualRow(userId, workspaceId, role))
      .execute();
  }
}

/** Somebody is given a role by hand for good, whatever sources give. */
export async function addByHand(
  connection: Connection,
  { userId, workspaceId, role }: { readonly userId: string; readonly workspaceId: string; readonly role: HeldRole },
): Promise<void> {
  const rows = await rolesIn(connection, userId, workspaceId);
  if (rows.every(({ source }) => source === byHand)) return;
  const held = rows.find(({ source }) => source === byHand)?.role ?? null;
  if (rank(held) >= rank(role)) return;
  await dropManual(connection, userId, workspaceId);
  await connection
    .insertInto("given_rights")
    .values(manualRow(userId, workspaceId, role))
    .execute();
}

/** From now on what they hold is by hand, or the file's. */
export async function forgetGiven(connection: Connection, userId: string): Promise<void> {
  await deleteRows(connection, "given_rights", { user_id: userId });
}

/** As people read it. */
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

async function dropManual(connection: Connection, userId: string, workspaceId: string): Promise<void> {
  await deleteRows(connection, "given_rights", { user_id: userId, source: byHand, workspace_id: workspaceId });
}
