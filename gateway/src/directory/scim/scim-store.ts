import type { AuditSource } from "#ports/index.ts";
import { type BoundStore, bindStore } from "../bound-store.ts";
import { type PeopleOptions, peopleContext, type RightsContext } from "../people/people-rows.ts";
import { scimCaller } from "../people/tokens.ts";
import { connectIdentity } from "./scim-connections.ts";
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
