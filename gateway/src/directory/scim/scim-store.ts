import type { ScimNumbers, ScimStore } from "#ports/index.ts";
import type { Connection } from "#storage/tables.ts";
import { type PeopleOptions, peopleContext, type RightsContext } from "../people/people-rows.ts";
import { scimCaller } from "../people/tokens.ts";
import { connectIdentity } from "./scim-connections.ts";
import { changeScimGroup, createScimGroup, listScimGroups, oneScimGroup, removeScimGroup } from "./scim-groups.ts";
import { settleGroups } from "./scim-rights.ts";
import { changeScimUser, createScimUser, listScimUsers, oneScimUser, removeScimUser } from "./scim-users.ts";

/** Users and groups that a directory keeps here. */
export function createScimStore(dependencies: PeopleOptions & Pick<RightsContext, "vault">): ScimStore {
  const options: RightsContext = { ...peopleContext(dependencies), vault: dependencies.vault };
  const { kysely } = options.database;
  const settled = async <Result>(write: Promise<Result>): Promise<Result> => {
    const result = await write;
    await settleGroups(options);
    return result;
  };
  return {
    caller: (digest) => scimCaller(options, digest),
    numbers: () => numbersOf(kysely, options.clock.now()),
    users: (page) => listScimUsers(kysely, page),
    user: (id) => oneScimUser(kysely, id),
    createUser: (form, auditSource) => createScimUser(options, form, auditSource),
    changeUser: (id, change, auditSource) => changeScimUser(options, id, change, auditSource),
    removeUser: (id, check, auditSource) => removeScimUser(options, id, check, auditSource),
    groups: (page, withMembers) => listScimGroups(kysely, page, withMembers),
    group: (id, withMembers) => oneScimGroup(kysely, id, withMembers),
    createGroup: (change, auditSource) => settled(createScimGroup(options, change, auditSource)),
    changeGroup: (id, change, auditSource) => settled(changeScimGroup(options, id, change, auditSource)),
    removeGroup: (id, check, auditSource) => settled(removeScimGroup(options, id, check, auditSource)),
    connect: (identity) => connectIdentity(options, identity),
  };
}

async function numbersOf(connection: Connection, now: number): Promise<ScimNumbers> {
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
