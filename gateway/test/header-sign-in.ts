import { Failure } from "#core/index.ts";
import type { SignedIn, SignIn, User } from "#ports/index.ts";
import type { Database } from "#storage/index.ts";

/** `<user id>`, or `<user id> stale` for a user with an old sign-in. */
export const sessionHeader = "x-test-session";

export interface HeaderSignIn extends SignIn {
  /** Inserts a user without a password. */
  createUser(user: { readonly email: string; readonly name: string }): Promise<User>;
  removeUser(userId: string): Promise<void>;
}

/** Users in the real table, of which `made` exist. A header selects the user of a request. */
export function createHeaderSignIn(database: Database, now: () => number, made = 0): HeaderSignIn {
  let userCount = made;
  return {
    handle: async () => new Response(null, { status: 404 }),
    async session(request): Promise<SignedIn | null> {
      const [id, age] = (request.headers.get(sessionHeader) ?? "").split(" ");
      const row = await database.kysely
        .selectFrom("auth_users")
        .select(["id", "email", "name", "created_at"])
        .where("id", "=", id ?? "")
        .executeTakeFirst();
      if (row === undefined) return null;
      const user = { id: row.id, email: row.email, name: row.name, createdAt: new Date(row.created_at).getTime() };
      return { user, sessionId: `ses_${row.id}`, fresh: age !== "stale" };
    },
    sessionsOf: async () => [],
    methods: () => ({ password: true, passkey: true, oidc: [] }),
    async createUser({ email, name }): Promise<User> {
      const id = `usr_${++userCount}`;
      const time = new Date(now()).toISOString();
      const { numInsertedOrUpdatedRows: inserted } = await database.kysely
        .insertInto("auth_users")
        .values({
          id,
          email: email.toLowerCase(),
          name,
          email_verified: 0,
          image: null,
          created_at: time,
          updated_at: time,
          two_factor_enabled: 0,
          administrator: 0,
          disabled: 0,
          last_seen_at: null,
        })
        .onConflict((conflict) => conflict.column("email").doNothing())
        .executeTakeFirst();
      if (Number(inserted ?? 0) === 0) {
        throw new Failure("invalid_request", "This address is taken.", { param: "email" });
      }
      return { id, email: email.toLowerCase(), name, createdAt: now() };
    },
    prepareUser: async ({ email, name, password }) => ({
      ...{ email: email.toLowerCase(), name },
      passwordHash: testHash(password),
    }),
    hashPassword: async (password) => testHash(password),
    async removeUser(userId) {
      await database.kysely.deleteFrom("auth_users").where("id", "=", userId).execute();
    },
    useOidc: () => undefined,
    recheckAtIssuer: async () => ({ kind: "unknown" }),
    recheckTimes: () => null,
  };
}

/** A fake hash. */
export function testHash(password: string): string {
  return `hash ${Bun.hash(password)}`;
}
