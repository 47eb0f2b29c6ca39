import type { AuditSource, NewIdentity } from "#ports/index.ts";
import { auditedWrite, type Connection } from "#storage/tables.ts";
import { type BoundStore, bindStore } from "../bound-store.ts";
import { type PeopleContext, type PeopleOptions, peopleContext, type RightsContext } from "../people/people-rows.ts";
import { scimCaller } from "../people/tokens.ts";
import {
  changeScimGroup,
  createScimGroup,
  listScimGroups,
  oneScimGroup,
  removeScimGroup,
  type ScimGroup,
  type ScimGroupChange,
} from "./scim-groups.ts";
import { settleGroups } from "./scim-rights.ts";
import { changeScimUser, createScimUser, listScimUsers, oneScimUser, removeScimUser } from "./scim-users.ts";

/**
 * Users and groups that a directory keeps here by SCIM (RFC 7643, 7644), as a second face of the people that there are. Throws
 * `conflict` with `param` for a name or an address that is taken, `conflict` without one for what may not be, and `not_found`.
 * Everything is one transaction with its audit rows, and happens one after the other with all writes about people.
 */
export type ScimStore = BoundStore<typeof functions>;

export function createScimStore({ vault, ...options }: PeopleOptions & Pick<RightsContext, "vault">): ScimStore {
  return bindStore({ ...peopleContext(options), vault }, functions);
}

const functions = {
  caller: scimCaller,
  numbers,
  users: listScimUsers,
  user: ({ database }: RightsContext, id: string) => oneScimUser(database.kysely, id),
  createUser: createScimUser,
  changeUser: changeScimUser,
  removeUser: removeScimUser,
  groups: listScimGroups,
  group: oneScimGroup,
  createGroup: (
    context: RightsContext,
    change: ScimGroupChange & { readonly displayName: string },
    auditSource: AuditSource,
  ) => settled(context, createScimGroup(context, change, auditSource)),
  changeGroup: (
    context: RightsContext,
    id: string,
    change: (before: ScimGroup) => ScimGroupChange,
    auditSource: AuditSource,
  ) => settled(context, changeScimGroup(context, id, change, auditSource)),
  removeGroup: (context: RightsContext, id: string, check: (before: ScimGroup) => void, auditSource: AuditSource) =>
    settled(context, removeScimGroup(context, id, check, auditSource)),
  connect: connectIdentity,
};

async function settled<Result>(context: RightsContext, write: Promise<Result>): Promise<Result> {
  const result = await write;
  await settleGroups(context);
  return result;
}

interface ScimNumbers {
  readonly users: number;
  readonly inactive: number;
  readonly groups: number;
  /** Unix milliseconds, right to about a minute; null: no token that there is was used. */
  readonly lastRequestAt: number | null;
  /** Tokens that a directory can call with now. */
  readonly tokens: number;
}

async function numbers({ database: { kysely: connection }, clock }: RightsContext): Promise<ScimNumbers> {
  const now = clock.now();
  const users = await connection
    .selectFrom("scim_users")
    .innerJoin("auth_users", "auth_users.id", "scim_users.user_id")
    .select((eb) => [eb.fn.countAll<number>().as("count"), eb.fn.sum<number>("auth_users.disabled").as("disabled")])
    .where("scim_users.removed_at", "is", null)
    .executeTakeFirstOrThrow();
  const groups = await connection
    .selectFrom("scim_groups")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  const used = await connection
    .selectFrom("admin_tokens")
    .select((eb) => eb.fn.max("last_used_at").as("at"))
    .where("scope", "=", "scim")
    .executeTakeFirstOrThrow();
  const tokens = await connection
    .selectFrom("admin_tokens")
    .innerJoin("auth_users", "auth_users.id", "admin_tokens.owner_id")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("admin_tokens.scope", "=", "scim")
    .where("auth_users.administrator", "=", 1)
    .where("auth_users.disabled", "=", 0)
    .where((eb) => eb.or([eb("admin_tokens.expires_at", "is", null), eb("admin_tokens.expires_at", ">", now)]))
    .executeTakeFirstOrThrow();
  return {
    tokens: Number(tokens.count),
    users: Number(users.count),
    inactive: Number(users.disabled ?? 0),
    groups: Number(groups.count),
    lastRequestAt: used.at === null ? null : Number(used.at),
  };
}

/**
 * The first sign-in of somebody whom a directory made: the identity has a verified address that its issuer may speak for, and that is theirs,
 * or the directory knows both by the same id. The issuer may speak for their address too. Only while they have no way in at all, and
 * never of an administrator: there, an address would open what somebody else set up.
 */
async function connectIdentity(options: PeopleContext, identity: NewIdentity): Promise<void> {
  // Asked outside of the write first: most who come are known.
  if ((await waitingFor(options.database.kysely, identity)) === null) return;
  await auditedWrite(options, { actor: "single sign-on", ip: null }, async ({ transaction, log, at }) => {
    const person = await waitingFor(transaction, identity);
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

async function waitingFor(
  connection: Connection,
  identity: NewIdentity,
): Promise<{ readonly id: string; readonly email: string } | null> {
  const connected = await connection
    .selectFrom("auth_accounts")
    .select("id")
    .where("issuer", "=", identity.issuer)
    .where("account_id", "=", identity.subject)
    .executeTakeFirst();
  if (connected !== undefined) return null;
  const { directoryIds, verifiedEmail } = identity;
  // The address that was told, not that of the person it leads to, is what the issuer has to be allowed to speak for.
  if (!identity.speaksFor(verifiedEmail)) return null;
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
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("auth_accounts")
            .select("auth_accounts.id")
            .whereRef("auth_accounts.user_id", "=", "auth_users.id"),
        ),
      ),
    )
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("auth_passkeys")
            .select("auth_passkeys.id")
            .whereRef("auth_passkeys.user_id", "=", "auth_users.id"),
        ),
      ),
    )
    .limit(2)
    .execute();
  const [person] = people;
  // Two who could be meant are nobody.
  return person !== undefined && people.length === 1 && identity.speaksFor(person.email) ? person : null;
}
