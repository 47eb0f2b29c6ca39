import { Failure } from "#core/index.ts";
import type { AuditSource } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite, type Connection } from "#storage/tables.ts";
import { addByHand, installation } from "../rights/given-rows.ts";
import { endSessions, type PeopleContext, type UserRow, userRow, userView } from "./people-rows.ts";

export async function administratorExists(connection: Connection): Promise<boolean> {
  const row = await connection.selectFrom("auth_users").select("id").where("administrator", "=", 1).executeTakeFirst();
  return row !== undefined;
}

/** Makes an existing user the first administrator. `isNew`: it was made for that. false: there is an administrator already. */
export async function makeFirstAdministrator(
  options: PeopleContext,
  userId: string,
  auditSource: AuditSource,
  isNew = false,
): Promise<boolean> {
  return await auditedWrite(options, auditSource, async (under) => {
    if (await administratorExists(under.transaction)) return false;
    if (isNew) {
      const user = await userRow(under.transaction, userId);
      under.log.record("create", `user ${user.email}`, null, userView(user));
    }
    await makeAdministrator(under, userId);
    return true;
  });
}

/** Writes the right, and its audit row when it is new; sessions from before do not have it. */
export async function makeAdministrator({ transaction, log }: AuditedWrite, userId: string): Promise<void> {
  const before = await userRow(transaction, userId);
  await addByHand(transaction, { userId, workspaceId: installation, role: "administrator" });
  if (before.administrator === 1) return;
  await transaction.updateTable("auth_users").set({ administrator: 1 }).where("id", "=", userId).execute();
  await endSessions(transaction, userId);
  log.record("update", `user ${before.email}`, userView(before), userView({ ...before, administrator: 1 }));
}

/** An installation nobody governs could only be mended in its database. */
export async function refuseUngoverned(transaction: Connection, user: UserRow): Promise<void> {
  if (user.administrator === 0 || user.disabled === 1) return;
  const other = await transaction
    .selectFrom("auth_users")
    .select("id")
    .where("administrator", "=", 1)
    .where("disabled", "=", 0)
    .where("id", "!=", user.id)
    .executeTakeFirst();
  if (other !== undefined) return;
  throw new Failure("conflict", `${user.email} is the last administrator. Make somebody else one first.`);
}
