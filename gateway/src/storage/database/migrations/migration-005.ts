import type { CreateTableBuilder, Kysely } from "kysely";
import type { Flavour } from "../database.ts";
import type { SchemaStep } from "../schema-step.ts";

/** Users, sessions, accounts, second factors and passkeys of the console. Administrators so far become users. */
export function migration005(flavour: Flavour): SchemaStep {
  const types = flavour.name === "sqlite" ? sqliteTypes : postgresTypes;
  return {
    contractsFrom: "005",
    async up(db: Kysely<unknown>): Promise<void> {
      await makeUsers(db, types);
      await makeSessions(db, types);
      await makeAccounts(db, types);
      await makeVerifications(db, types);
      await makeFactors(db, types);
      await moveAdministrators(db as Kysely<Moved>, types);
      await db.schema.dropTable("administrators").execute();
    },
  };
}

/** The forms that the sign-in library writes times and flags in. */
interface Types {
  readonly time: "text" | "timestamptz";
  readonly flag: "integer" | "boolean";
  writeTime(ms: number): unknown;
  writeFlag(flag: boolean): unknown;
}

const sqliteTypes: Types = {
  time: "text",
  flag: "integer",
  writeTime: (ms) => new Date(ms).toISOString(),
  writeFlag: (flag) => (flag ? 1 : 0),
};

const postgresTypes: Types = {
  time: "timestamptz",
  flag: "boolean",
  writeTime: (ms) => new Date(ms),
  writeFlag: (flag) => flag,
};

async function makeUsers(db: Kysely<unknown>, types: Types): Promise<void> {
  await db.schema
    .createTable("auth_users")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("name", "text", (c) => c.notNull())
    .addColumn("email", "text", (c) => c.notNull().unique())
    .addColumn("email_verified", types.flag, (c) => c.notNull())
    .addColumn("image", "text")
    .addColumn("created_at", types.time, (c) => c.notNull())
    .addColumn("updated_at", types.time, (c) => c.notNull())
    .addColumn("two_factor_enabled", types.flag, (c) => c.notNull().defaultTo(types.writeFlag(false)))
    .addColumn("administrator", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("disabled", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("last_seen_at", "bigint")
    .execute();
}

async function makeSessions(db: Kysely<unknown>, types: Types): Promise<void> {
  await owned(db.schema.createTable("auth_sessions").addColumn("id", "text", (c) => c.primaryKey().notNull()))
    .addColumn("token", "text", (c) => c.notNull().unique())
    .addColumn("expires_at", types.time, (c) => c.notNull())
    .addColumn("created_at", types.time, (c) => c.notNull())
    .addColumn("updated_at", types.time, (c) => c.notNull())
    .addColumn("ip_address", "text")
    .addColumn("user_agent", "text")
    .execute();
  await db.schema.createIndex("auth_sessions_user").on("auth_sessions").column("user_id").execute();
  await db.schema.createIndex("auth_sessions_end").on("auth_sessions").column("expires_at").execute();
}

async function makeAccounts(db: Kysely<unknown>, types: Types): Promise<void> {
  await owned(db.schema.createTable("auth_accounts").addColumn("id", "text", (c) => c.primaryKey().notNull()))
    .addColumn("issuer", "text", (c) => c.notNull())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("provider_id", "text", (c) => c.notNull())
    .addColumn("access_token", "text")
    .addColumn("refresh_token", "text")
    .addColumn("id_token", "text")
    .addColumn("access_token_expires_at", types.time)
    .addColumn("refresh_token_expires_at", types.time)
    .addColumn("scope", "text")
    .addColumn("password", "text")
    .addColumn("created_at", types.time, (c) => c.notNull())
    .addColumn("updated_at", types.time, (c) => c.notNull())
    .addUniqueConstraint("auth_accounts_subject_unique", ["issuer", "account_id"])
    .execute();
  await db.schema.createIndex("auth_accounts_user").on("auth_accounts").column("user_id").execute();
}

async function makeVerifications(db: Kysely<unknown>, types: Types): Promise<void> {
  await db.schema
    .createTable("auth_verifications")
    .addColumn("id", "text", (c) => c.primaryKey().notNull())
    .addColumn("identifier", "text", (c) => c.notNull())
    .addColumn("value", "text", (c) => c.notNull())
    .addColumn("expires_at", types.time, (c) => c.notNull())
    .addColumn("created_at", types.time, (c) => c.notNull())
    .addColumn("updated_at", types.time, (c) => c.notNull())
    .execute();
  const index = (name: string, column: string) =>
    db.schema.createIndex(name).on("auth_verifications").column(column).execute();
  await index("auth_verifications_identifier", "identifier");
  await index("auth_verifications_value", "value");
  await index("auth_verifications_end", "expires_at");
}

async function makeFactors(db: Kysely<unknown>, types: Types): Promise<void> {
  await owned(db.schema.createTable("auth_two_factors").addColumn("id", "text", (c) => c.primaryKey().notNull()))
    .addColumn("secret", "text", (c) => c.notNull())
    .addColumn("backup_codes", "text", (c) => c.notNull())
    .addColumn("verified", types.flag, (c) => c.notNull())
    .addColumn("failed_verification_count", "integer", (c) => c.notNull().defaultTo(0))
    .addColumn("locked_until", types.time)
    .execute();
  await db.schema.createIndex("auth_two_factors_user").unique().on("auth_two_factors").column("user_id").execute();
  await owned(db.schema.createTable("auth_passkeys").addColumn("id", "text", (c) => c.primaryKey().notNull()))
    .addColumn("name", "text")
    .addColumn("public_key", "text", (c) => c.notNull())
    .addColumn("credential_id", "text", (c) => c.notNull().unique())
    .addColumn("counter", "bigint", (c) => c.notNull())
    .addColumn("device_type", "text", (c) => c.notNull())
    .addColumn("backed_up", types.flag, (c) => c.notNull())
    .addColumn("transports", "text")
    .addColumn("created_at", types.time)
    .addColumn("aaguid", "text")
    .execute();
  await db.schema.createIndex("auth_passkeys_user").on("auth_passkeys").column("user_id").execute();
}

/** What somebody signs in with goes with them. */
function owned<Name extends string>(table: CreateTableBuilder<Name, "id">): CreateTableBuilder<Name, "id" | "user_id"> {
  return table.addColumn("user_id", "text", (c) => c.notNull().references("auth_users.id").onDelete("cascade"));
}

/** The tables of the move as they are at this migration; later ones may change them. */
interface Moved {
  administrators: { id: string; email: string; password_hash: string; created_at: number };
  auth_users: Record<string, unknown>;
  auth_accounts: Record<string, unknown>;
}

async function moveAdministrators(db: Kysely<Moved>, types: Types): Promise<void> {
  for (const row of await db.selectFrom("administrators").selectAll().execute()) {
    const at = types.writeTime(Number(row.created_at));
    const email = row.email.toLowerCase();
    const times = { created_at: at, updated_at: at };
    await db
      .insertInto("auth_users")
      .values({
        id: row.id,
        name: email.slice(0, email.indexOf("@")) || email,
        email,
        email_verified: types.writeFlag(false),
        administrator: 1,
        ...times,
      })
      .execute();
    await db
      .insertInto("auth_accounts")
      .values({
        id: `acc_${row.id}`,
        user_id: row.id,
        issuer: "local:credential",
        account_id: row.id,
        provider_id: "credential",
        password: row.password_hash,
        ...times,
      })
      .execute();
  }
}
