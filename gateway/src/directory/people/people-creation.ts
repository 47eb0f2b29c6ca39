import type { ConsoleUser } from "@sluice/contract/console";
import { Failure } from "#core/index.ts";
import type { AuditSource, NewUser } from "#ports/index.ts";
import { type AuditedWrite, auditedWrite } from "#storage/tables.ts";
import { makeAdministrator } from "./people-administrators.ts";
import { putMember } from "./people-members.ts";
import type { PeopleContext } from "./people-options.ts";
import { dropResets } from "./people-resets.ts";
import { userRow, userView } from "./people-rows.ts";
import { endSessions } from "./people-sessions.ts";
import { oneUser } from "./people-users.ts";

/** A user with all they hold, or nothing at all. */
export async function createUser(
  options: PeopleContext,
  user: NewUser,
  auditSource: AuditSource,
): Promise<ConsoleUser> {
  return await auditedWrite(options, auditSource, async (under) => {
    const id = await insertUser(under, options, user);
    const made = await oneUser(under.transaction, "id", id);
    if (made === null) throw new Error("a user that was made is not there");
    return made;
  });
}

export async function setPassword(
  options: PeopleContext,
  { userId, passwordHash }: { readonly userId: string; readonly passwordHash: string },
  auditSource: AuditSource,
): Promise<void> {
  await auditedWrite(options, auditSource, async (under) => {
    const { email } = await userRow(under.transaction, userId);
    await putPassword(under, options, { userId, passwordHash });
    await dropResets(under.transaction, userId);
    await endSessions(under.transaction, userId);
    under.log.note({ action: "reset-password", object: `user ${email}`, workspaceId: null });
  });
}

/** Gives the id of the new user. Throws `conflict` for an address that somebody has. */
export async function insertUser(
  under: AuditedWrite,
  options: Pick<PeopleContext, "ids">,
  { email, name, passwordHash, grants }: NewUser,
): Promise<string> {
  const { transaction, log } = under;
  const userId = options.ids.next("usr_");
  const at = new Date(under.at).toISOString();
  const made = await transaction
    .insertInto("auth_users")
    .values({
      id: userId,
      name,
      email,
      email_verified: 0,
      created_at: at,
      updated_at: at,
      two_factor_enabled: 0,
      administrator: 0,
      disabled: 0,
    })
    .onConflict((conflict) => conflict.column("email").doNothing())
    .returning("id")
    .executeTakeFirst();
  if (made === undefined) throw new Failure("conflict", `There is a user ${email} already.`, { param: "email" });
  if (passwordHash !== null) await putPassword(under, options, { userId, passwordHash });
  log.record("create", `user ${email}`, null, userView(await userRow(transaction, userId)));
  for (const grant of grants) {
    if (grant.administrator) await makeAdministrator(under, userId);
    else await putMember(under, { workspaceId: grant.workspaceId, userId, role: grant.role, keptSession: null });
  }
  return userId;
}

/** The row that sign-in reads the password from, as its library names it. */
async function putPassword(
  { transaction, at }: AuditedWrite,
  { ids }: Pick<PeopleContext, "ids">,
  { userId, passwordHash }: { readonly userId: string; readonly passwordHash: string },
): Promise<void> {
  const now = new Date(at).toISOString();
  await transaction
    .insertInto("auth_accounts")
    .values({
      id: ids.next("acc_"),
      user_id: userId,
      issuer: "local:credential",
      account_id: userId,
      provider_id: "credential",
      password: passwordHash,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) =>
      conflict.columns(["issuer", "account_id"]).doUpdateSet({ password: passwordHash, updated_at: now }),
    )
    .execute();
}
