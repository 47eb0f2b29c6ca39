import type { NewIdentity } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { countRows, findRow } from "../rows.ts";
import type { Directory, SealedDirectory } from "../store.ts";

/** `tokens`: the number of valid tokens. `lastRequestAt`: accurate to about a minute; null: no token was used yet. */
export async function scimStats({ database: { kysely: connection }, clock }: SealedDirectory) {
  const now = clock.now();
  const users = await connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.sum<number>("auth_users.disabled").as("disabled")])
    .where("scim_users.removed_at", "is", null)
    .executeTakeFirstOrThrow();
  const used = await connection
    .selectFrom("admin_tokens")
    .select((eb) => eb.fn.max("last_used_at").as("at"))
    .where("scope", "=", "scim")
    .executeTakeFirstOrThrow();
  const tokens = connection
    .selectFrom("admin_tokens")
    .innerJoin("auth_users", "auth_users.id", "admin_tokens.owner_id")
    .where("admin_tokens.scope", "=", "scim")
    .where("auth_users.administrator", "=", 1)
    .where("auth_users.disabled", "=", 0)
    .where((eb) => eb.or([eb("admin_tokens.expires_at", "is", null), eb("admin_tokens.expires_at", ">", now)]));
  return {
    tokens: await countRows(tokens),
    users: Number(users.count),
    inactive: Number(users.disabled ?? 0),
    groups: await countRows(connection.selectFrom("scim_groups")),
    lastRequestAt: used.at,
  };
}

/**
 * Connects an issuer's identity to a user who was created by SCIM and signs in for the first time. The identity must have a verified
 * address in a domain of its issuer, and the user's address or external id. Never connects an administrator, or a user who can already
 * sign in.
 */
export async function connectIdentity(options: Directory, identity: NewIdentity): Promise<void> {
  // Checked before the transaction too, since most identities are already connected.
  if ((await userAwaitingFirstSignIn(options.database.kysely, identity)) === null) return;
  await auditedWrite(options, { actor: "single sign-on", ip: null }, async ({ transaction, log, at }) => {
    const person = await userAwaitingFirstSignIn(transaction, identity);
    if (person === null) return;
    const now = new Date(at).toISOString();
    await transaction
      .insertInto("auth_accounts")
      .values({
        id: options.ids.next("acc_"),
        user_id: person.id,
        issuer: identity.issuer,
        account_id: identity.subject,
        provider_id: identity.provider,
        created_at: now,
        updated_at: now,
      })
      .execute();
    log.note({
      action: "oidc-connected",
      object: `user ${person.email}`,
      workspaceId: null,
      after: { by: "scim", single_sign_on: identity.provider },
    });
  });
}

async function userAwaitingFirstSignIn(
  connection: Connection,
  identity: NewIdentity,
): Promise<{ readonly id: string; readonly email: string } | null> {
  const { issuer, subject } = identity;
  const connected = await findRow(connection, "auth_accounts", { issuer, account_id: subject });
  if (connected !== undefined) return null;
  const { directoryIds, verifiedEmail } = identity;
  if (!identity.mayVouchFor(verifiedEmail)) return null;
  const people = await connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .select(["auth_users.id", "auth_users.email"])
    .where("scim_users.removed_at", "is", null)
    .where("scim_users.made", "=", 1)
    .where("auth_users.administrator", "=", 0)
    .where("auth_users.disabled", "=", 0)
    .where((eb) =>
      eb.or([
        ...(directoryIds.length === 0 ? [] : [eb("scim_users.external_id", "in", [...directoryIds])]),
        eb("auth_users.email", "=", verifiedEmail),
      ]),
    )
    // Only users who cannot sign in yet.
    .leftJoin("auth_accounts", "auth_accounts.user_id", "auth_users.id")
    .leftJoin("auth_passkeys", "auth_passkeys.user_id", "auth_users.id")
    .where("auth_accounts.id", "is", null)
    .where("auth_passkeys.id", "is", null)
    .limit(2)
    .execute();
  const [person] = people;
  // An ambiguous match connects no user.
  return person !== undefined && people.length === 1 && identity.mayVouchFor(person.email) ? person : null;
}
