import { Failure } from "#core/index.ts";
import type { Clock, Ids, User } from "#ports/index.ts";
import { checkPassword, type PasswordFunctions } from "./passwords.ts";
import { type AuthDatabase, type Sessions, timeText } from "./sessions.ts";

/** Accounts of single sign-on that open one user. */
export const connectionsPerUserMax = 10;

interface UsersOptions {
  readonly database: AuthDatabase;
  readonly sessions: Sessions;
  readonly passwords: PasswordFunctions;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Whether an account of single sign-on, by its id, signs anybody in now. */
  readonly mayUse: (provider: string) => boolean;
}

interface WaysIn {
  readonly password: boolean;
  readonly passkeys: number;
  /** Ids of accounts of single sign-on. */
  readonly oidc: readonly string[];
}

/** An issuer's identity that opens somebody's account. */
interface Connection {
  readonly id: string;
  readonly provider: string;
  readonly issuer: string;
  readonly connectedAt: number;
}

/** The users themselves, written past the library: it would have to be loaded, and its own ways in are all closed. */
export class Users {
  readonly #options: UsersOptions;

  constructor(options: UsersOptions) {
    this.#options = options;
  }

  async create(user: { readonly email: string; readonly name: string; readonly password: string }): Promise<User> {
    const { email, name } = await readPerson(user);
    checkPassword(user.password, "password");
    const password = await this.#options.passwords.hashPassword(user.password);
    const { database, ids, clock } = this.#options;
    const id = ids.next("usr_");
    const at = timeText(clock.now());
    await database.transaction().execute(async (transaction) => {
      const made = await transaction
        .insertInto("auth_users")
        .values({
          id,
          name,
          email,
          email_verified: 0,
          created_at: at,
          updated_at: at,
          two_factor_enabled: 0,
          disabled: 0,
          last_seen_at: null,
        })
        .onConflict((conflict) => conflict.column("email").doNothing())
        .returning("id")
        .executeTakeFirst();
      if (made === undefined) {
        throw new Failure("invalid_request", "There is a user with this e-mail address already.", { param: "email" });
      }
      await transaction.insertInto("auth_accounts").values(this.#credential(id, password)).execute();
    });
    return { id, email, name, createdAt: Date.parse(at) };
  }

  async setPassword(userId: string, password: string): Promise<void> {
    checkPassword(password, "password");
    const { database, clock, passwords, sessions } = this.#options;
    const user = await database.selectFrom("auth_users").select("id").where("id", "=", userId).executeTakeFirst();
    if (user === undefined) throw new Failure("not_found", "There is no such user.");
    const hash = await passwords.hashPassword(password);
    await database
      .insertInto("auth_accounts")
      .values(this.#credential(userId, hash))
      .onConflict((conflict) =>
        conflict.columns(["issuer", "account_id"]).doUpdateSet({ password: hash, updated_at: timeText(clock.now()) }),
      )
      .execute();
    await sessions.endAll(userId);
  }

  /** A link from before a password was changed opens nothing: whoever changed it may have done so because of that link. */
  async dropResetLinks(userId: string): Promise<void> {
    await this.#options.database.deleteFrom("password_resets").where("user_id", "=", userId).execute();
  }

  async remove(userId: string): Promise<void> {
    const { database, sessions } = this.#options;
    await sessions.endAll(userId);
    // Sessions, passwords, passkeys, second factors and linked accounts go with the row.
    await database.deleteFrom("auth_users").where("id", "=", userId).execute();
  }

  async idOf(email: string): Promise<string | null> {
    const row = await this.#options.database
      .selectFrom("auth_users")
      .select("id")
      .where("email", "=", email)
      .executeTakeFirst();
    return row?.id ?? null;
  }

  /** What somebody can sign in with. */
  async waysOf(userId: string): Promise<WaysIn> {
    return await waysIn(this.#options.database, userId);
  }

  /** What issuers say of somebody who may sign in by them. */
  async connectionsOf(userId: string): Promise<readonly Connection[]> {
    const rows = await this.#options.database
      .selectFrom("auth_accounts")
      .select(["id", "provider_id", "issuer", "created_at"])
      .where("user_id", "=", userId)
      .where("provider_id", "!=", "credential")
      .orderBy("created_at")
      .execute();
    return rows.map((row) => ({
      id: row.id,
      provider: row.provider_id,
      issuer: row.issuer,
      connectedAt: Date.parse(row.created_at),
    }));
  }

  /** As whom the issuer of an account knows somebody; null: it does not. */
  async subjectAt(userId: string, account: string): Promise<string | null> {
    const row = await this.#options.database
      .selectFrom("auth_accounts")
      .select("account_id")
      .where("user_id", "=", userId)
      .where("provider_id", "=", account)
      .orderBy("created_at", "desc")
      .executeTakeFirst();
    return row?.account_id ?? null;
  }

  async refuseTooManyConnections(userId: string): Promise<void> {
    if ((await this.connectionsOf(userId)).length < connectionsPerUserMax) return;
    throw new Failure("conflict", `A user connects at most ${connectionsPerUserMax} accounts. Disconnect one.`);
  }

  /** Takes a passkey or a connection away. Throws `not_found` for one that is not theirs, `conflict` for their last way in. */
  async dropWay(userId: string, way: { readonly passkey: string } | { readonly connection: string }): Promise<void> {
    const { database, mayUse } = this.#options;
    await database.transaction().execute(async (transaction) => {
      // One after the other, in every process: of two at once each would find the other's way in still there.
      await transaction
        .updateTable("auth_users")
        .set((is) => ({ last_seen_at: is.ref("last_seen_at") }))
        .where("id", "=", userId)
        .execute();
      const dropped =
        "passkey" in way
          ? await transaction
              .deleteFrom("auth_passkeys")
              .where("user_id", "=", userId)
              .where("id", "=", way.passkey)
              .executeTakeFirst()
          : await transaction
              .deleteFrom("auth_accounts")
              .where("user_id", "=", userId)
              .where("provider_id", "!=", "credential")
              .where("id", "=", way.connection)
              .executeTakeFirst();
      if (dropped.numDeletedRows === 0n) {
        throw new Failure("not_found", "passkey" in way ? "There is no such passkey." : "There is no such connection.");
      }
      const left = await waysIn(transaction, userId);
      if (left.password || left.passkeys > 0 || left.oidc.some(mayUse)) return;
      throw new Failure("conflict", "This is the last way in. Add another one first: a passkey, or a password.");
    });
  }

  #credential(userId: string, password: string) {
    const { ids, clock } = this.#options;
    const at = timeText(clock.now());
    return {
      id: ids.next("acc_"),
      user_id: userId,
      issuer: credentialIssuer,
      account_id: userId,
      provider_id: "credential",
      password,
      created_at: at,
      updated_at: at,
    };
  }
}

async function waysIn(kysely: AuthDatabase, userId: string): Promise<WaysIn> {
  const accounts = await kysely
    .selectFrom("auth_accounts")
    .select(["provider_id", "password"])
    .where("user_id", "=", userId)
    .execute();
  const { passkeys } = await kysely
    .selectFrom("auth_passkeys")
    .select((is) => is.fn.countAll<number>().as("passkeys"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return {
    password: accounts.some((account) => account.password !== null),
    passkeys: Number(passkeys),
    oidc: accounts.filter((account) => account.provider_id !== "credential").map((account) => account.provider_id),
  };
}

/** As the library names the account that a password belongs to. */
const credentialIssuer = "local:credential";

/** Who somebody is, as it is stored. Throws Failure invalid_request. The schemas are loaded with the first one: a start needs none. */
export async function readPerson(given: { readonly email: string; readonly name: string }) {
  const late = await import("./schemas.ts");
  return late.readPerson(given);
}
