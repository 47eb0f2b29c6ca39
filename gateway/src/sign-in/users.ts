import { Failure } from "#core/index.ts";
import type { AuthDatabase } from "./sessions.ts";

/** Accounts of single sign-on that open one user. */
export const connectionsPerUserMax = 10;

interface SignInMethods {
  readonly password: boolean;
  readonly passkeys: number;
  /** Ids of accounts of single sign-on. */
  readonly oidc: readonly string[];
}

/** An identity at an issuer that signs the user in. */
interface Connection {
  readonly id: string;
  readonly provider: string;
  readonly issuer: string;
  readonly connectedAt: number;
}

/** Reads and changes users without loading the sign-in library. */
export class Users {
  readonly #database: AuthDatabase;
  readonly #mayUse: (provider: string) => boolean;

  /** `mayUse`: whether an account of single sign-on, by its id, is in use. */
  constructor(database: AuthDatabase, mayUse: (provider: string) => boolean) {
    this.#database = database;
    this.#mayUse = mayUse;
  }

  /** The password may have been changed because of such a link. */
  async deleteResetLinks(userId: string): Promise<void> {
    await this.#database.deleteFrom("password_resets").where("user_id", "=", userId).execute();
  }

  async idOf(email: string): Promise<string | null> {
    const row = await this.#database
      .selectFrom("auth_users")
      .select("id")
      .where("email", "=", email)
      .executeTakeFirst();
    return row?.id ?? null;
  }

  async signInMethods(userId: string): Promise<SignInMethods> {
    return await readSignInMethods(this.#database, userId);
  }

  async connectionsOf(userId: string): Promise<readonly Connection[]> {
    const rows = await this.#database
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

  /** The user's subject at the issuer of an account; null: not connected. */
  async subjectAt(userId: string, account: string): Promise<string | null> {
    const row = await this.#database
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
    throw new Failure("conflict", `A user can connect at most ${connectionsPerUserMax} accounts. Disconnect one.`);
  }

  /** Throws `not_found` for a passkey or connection of somebody else, `conflict` for the user's last sign-in method. */
  async removeMethod(
    userId: string,
    method: { readonly passkey: string } | { readonly connection: string },
  ): Promise<void> {
    await this.#database.transaction().execute(async (transaction) => {
      // Locks the user's row, so that two concurrent calls cannot remove the last two methods.
      await transaction
        .updateTable("auth_users")
        .set((is) => ({ last_seen_at: is.ref("last_seen_at") }))
        .where("id", "=", userId)
        .execute();
      const deleted =
        "passkey" in method
          ? await transaction
              .deleteFrom("auth_passkeys")
              .where("user_id", "=", userId)
              .where("id", "=", method.passkey)
              .executeTakeFirst()
          : await transaction
              .deleteFrom("auth_accounts")
              .where("user_id", "=", userId)
              .where("provider_id", "!=", "credential")
              .where("id", "=", method.connection)
              .executeTakeFirst();
      if (deleted.numDeletedRows === 0n) {
        throw new Failure("not_found", `There is no such ${"passkey" in method ? "passkey" : "connection"}.`);
      }
      const left = await readSignInMethods(transaction, userId);
      if (left.password || left.passkeys > 0 || left.oidc.some(this.#mayUse)) return;
      throw new Failure("conflict", "This is your last sign-in method. Add a passkey or a password first.");
    });
  }
}

async function readSignInMethods(kysely: AuthDatabase, userId: string): Promise<SignInMethods> {
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

/** Checks and normalizes an address and a name. Throws `invalid_request`. Loads the schemas when needed. */
export async function readPerson(given: { readonly email: string; readonly name: string }) {
  const schemas = await import("./schemas.ts");
  return schemas.readPerson(given);
}
