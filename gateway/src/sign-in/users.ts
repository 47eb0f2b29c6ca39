import { Failure } from "#core/index.ts";
import { countRows, deleteRows, findRow, findRows, not } from "#storage/tables.ts";
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
    await deleteRows(this.#database, "password_resets", { user_id: userId });
  }

  async idOf(email: string): Promise<string | null> {
    return (await findRow(this.#database, "auth_users", { email }))?.id ?? null;
  }

  async signInMethods(userId: string): Promise<SignInMethods> {
    return await readSignInMethods(this.#database, userId);
  }

  async connectionsOf(userId: string): Promise<readonly Connection[]> {
    const where = { user_id: userId, provider_id: not("credential") };
    const rows = await findRows(this.#database, "auth_accounts", where, "created_at");
    return rows.map(({ id, provider_id: provider, issuer, created_at }) => ({
      ...{ id, provider, issuer },
      connectedAt: Date.parse(created_at),
    }));
  }

  /** The user's subject at the issuer of an account; null: not connected. */
  async subjectAt(userId: string, account: string): Promise<string | null> {
    const where = { user_id: userId, provider_id: account };
    return (await findRows(this.#database, "auth_accounts", where, "created_at")).at(-1)?.account_id ?? null;
  }

  async refuseTooManyConnections(userId: string): Promise<void> {
    if ((await this.connectionsOf(userId)).length < connectionsPerUserMax) return;
    throw new Failure("conflict", `A user can connect at most ${connectionsPerUserMax} accounts. Disconnect one.`);
  }

  /** Throws `not_found` for a passkey or connection of another user, `conflict` for the user's last sign-in method. */
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
          ? await deleteRows(transaction, "auth_passkeys", { user_id: userId, id: method.passkey })
          : await deleteRows(transaction, "auth_accounts", {
              ...{ user_id: userId, id: method.connection },
              provider_id: not("credential"),
            });
      if (deleted === 0) {
        throw new Failure("not_found", `${"passkey" in method ? "Passkey" : "Connection"} not found.`);
      }
      const left = await readSignInMethods(transaction, userId);
      if (left.password || left.passkeys > 0 || left.oidc.some(this.#mayUse)) return;
      throw new Failure("conflict", "This is your last sign-in method. Add a passkey or a password first.");
    });
  }
}

async function readSignInMethods(kysely: AuthDatabase, userId: string): Promise<SignInMethods> {
  const accounts = await findRows(kysely, "auth_accounts", { user_id: userId });
  const passkeys = await countRows(kysely.selectFrom("auth_passkeys").where("user_id", "=", userId));
  return {
    password: accounts.some((account) => account.password !== null),
    passkeys,
    oidc: accounts.filter((account) => account.provider_id !== "credential").map((account) => account.provider_id),
  };
}

/** Checks and normalizes an address and a name. Throws `invalid_request`. Loads the schemas when needed. */
export async function readPerson(given: { readonly email: string; readonly name: string }) {
  const schemas = await import("./schemas.ts");
  return schemas.readPerson(given);
}
