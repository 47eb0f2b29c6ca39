import type { BetterAuthOptions, DBAdapter, DBTransactionAdapter, Where } from "better-auth/types";
import { bounds } from "#core/index.ts";
import type { Ids, Observer, VersionedSecret } from "#ports/index.ts";
import type { Issuers } from "./oidc-issuers.ts";
import { admitByIssuer, oidcPlugin } from "./oidc-provider.ts";
import type { PasswordFunctions } from "./passwords.ts";
import { type AuthDatabase, type Sessions, tokenDigest } from "./sessions.ts";
import type { Site } from "./site.ts";

/** The sign-in library for one site. Requests to it are ours: their paths, bodies and headers have been checked. */
export type Library = (request: Request) => Promise<Response>;

export interface LibraryOptions {
  readonly database: AuthDatabase;
  readonly secrets: readonly VersionedSecret[];
  readonly passwords: PasswordFunctions;
  readonly ids: Ids;
  readonly observer: Observer;
  readonly issuers: Issuers;
  readonly sessions: Sessions;
}

/** The caller's address, as we tell it to the library. */
export const addressHeader = "x-sluice-address";
export const signInPage = "/console/sign-in";

/** Loaded with the first sign-in: it takes about 50 MB and a quarter of a second, and most processes never need it. */
export async function openLibrary(options: LibraryOptions, site: Site): Promise<Library> {
  const [{ betterAuth }, { getAdapter }, { twoFactor }, { passkey }, { APIError }] = await Promise.all([
    import("better-auth/minimal"),
    import("better-auth/db/adapter"),
    import("better-auth/plugins/two-factor"),
    import("@better-auth/passkey"),
    import("better-auth/api"),
  ]);
  const verifiedByUser = (verified: boolean | undefined) => {
    // A passkey stands for both factors, so its holder must have shown who they are, not only that they are there.
    if (verified !== true) throw new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED" });
  };
  const plugins = [
    twoFactor({
      issuer: "Sluice",
      schema: twoFactorTables,
      twoFactorCookieMaxAge: bounds.secondFactorMs / 1_000,
      accountLockout: {
        enabled: true,
        maxFailedAttempts: bounds.signInTriesMax,
        durationSeconds: bounds.signInTriesMs / 1_000,
      },
    }),
    passkey({
      rpID: site.hostname,
      rpName: "Sluice",
      origin: site.origin,
      schema: passkeyTables,
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      registration: {
        afterVerification: async ({ verification }) =>
          verifiedByUser(verification.registrationInfo?.userVerified) as undefined,
      },
      authentication: {
        afterVerification: async ({ verification }) => verifiedByUser(verification.authenticationInfo.userVerified),
      },
      advanced: { webAuthnChallengeCookie: "passkey" },
    }),
    await oidcPlugin(options.issuers),
  ];
  const settings: BetterAuthOptions = { ...baseOptions(options, site), plugins };
  const adapter = await getAdapter({
    ...settings,
    // Also on PostgreSQL: this says which form values have, and there they come and go as in SQLite.
    database: { db: options.database, type: "sqlite", transaction: true },
  });
  const auth = betterAuth({ ...settings, database: () => hashedSessions(adapter) });
  // Anything wrong with the settings shows here, not at the first request.
  await auth.$context;
  return auth.handler;
}

function baseOptions(options: LibraryOptions, site: Site): BetterAuthOptions {
  const { secrets, passwords, ids, observer, issuers, sessions } = options;
  const signedInLately = async (headers: Headers): Promise<string | null> => {
    const session = await sessions.find(headers, site);
    return session?.fresh === true ? session.user.id : null;
  };
  return {
    appName: "Sluice",
    baseURL: site.origin,
    basePath: "/api/auth",
    // As a list, so that no variable of the environment is asked for more.
    secrets: [...secrets],
    trustedOrigins: [site.origin],
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: {
      level: "error",
      log: (_level, message, ...details) => observer.log("debug", "sign-in", { message, problem: problemOf(details) }),
    },
    onAPIError: { throw: true, errorURL: signInPage },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: bounds.passwordLengthMin,
      maxPasswordLength: bounds.passwordLengthMax,
      password: {
        hash: (password) => passwords.hashPassword(password),
        verify: ({ password, hash }) => passwords.passwordMatches(password, hash),
      },
    },
    user: { ...coreTables.user, validateUserInfo: admitByIssuer(issuers, signedInLately) },
    session: {
      ...coreTables.session,
      expiresIn: bounds.sessionTotalMs / 1_000,
      // A session is not prolonged: its end stands from its beginning, and idleness is ours to watch.
      disableSessionRefresh: true,
      freshAge: bounds.sessionFreshMs / 1_000,
      cookieCache: { enabled: false },
    },
    account: {
      ...coreTables.account,
      updateAccountOnSignIn: false,
      storeStateStrategy: "database",
      // An identity is connected by the one whose account it is to open, and by nothing that its issuer says of addresses.
      accountLinking: {
        enabled: true,
        disableImplicitLinking: true,
        allowDifferentEmails: true,
        trustedProviders: issuers.all().map(({ account }) => account.id),
      },
    },
    verification: { ...coreTables.verification, storeIdentifier: "hashed" },
    databaseHooks: {
      session: {
        create: {
          before: async (session, context) => {
            const user = await context?.context.internalAdapter.findUserById(session.userId);
            const admitted = user !== undefined && user !== null && !(user as { disabled?: unknown }).disabled;
            return admitted ? undefined : false;
          },
        },
      },
      // An issuer's tokens have served when somebody is signed in; kept, they could only leak.
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
    advanced: {
      useSecureCookies: false,
      cookiePrefix: site.cookiePrefix,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path: "/", secure: site.secure },
      disableCSRFCheck: false,
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [addressHeader], ipv6Subnet: 128 },
      database: { generateId: ({ model }) => ids.next(prefixes[model] ?? "ath_") },
    },
  };
}

async function withoutTokens() {
  return { data: { accessToken: null, refreshToken: null, idToken: null, accessTokenExpiresAt: null, scope: null } };
}

const prefixes: Readonly<Record<string, string>> = {
  user: "usr_",
  session: "ses_",
  account: "acc_",
  passkey: "pky_",
};

/** What the library says about an error, without what it was about. */
function problemOf(details: readonly unknown[]): string | undefined {
  const error = details.find((detail) => detail instanceof Error);
  return error === undefined ? undefined : `${error.name}: ${error.message}`.slice(0, 300);
}

/** A field of the library is a column of ours in snake case: credentialID is credential_id. */
function columns<Name extends string>(...names: readonly Name[]) {
  const named = names.map((name) => [name, name.replace(/([a-z])([A-Z]+)/g, "$1_$2").toLowerCase()]);
  return Object.fromEntries(named) as Record<Name, string>;
}

/** How the library's models and fields are called in our tables. */
const coreTables = {
  user: {
    modelName: "auth_users",
    fields: columns("emailVerified", "createdAt", "updatedAt"),
    // Read so that no session is made for them; nothing the library offers can write it.
    additionalFields: {
      language: { type: "string", required: false, input: true, returned: false, fieldName: "language" },
      disabled: { type: "boolean", required: false, input: false, returned: false, fieldName: "disabled" },
    },
  },
  session: {
    modelName: "auth_sessions",
    fields: columns("userId", "expiresAt", "createdAt", "updatedAt", "ipAddress", "userAgent"),
  },
  account: {
    modelName: "auth_accounts",
    fields: {
      ...columns("userId", "accountId", "providerId", "accessToken", "refreshToken", "idToken"),
      ...columns("accessTokenExpiresAt", "refreshTokenExpiresAt", "createdAt", "updatedAt"),
    },
  },
  verification: { modelName: "auth_verifications", fields: columns("expiresAt", "createdAt", "updatedAt") },
} as const satisfies Pick<BetterAuthOptions, "user" | "session" | "account" | "verification">;

const twoFactorTables = {
  user: { fields: columns("twoFactorEnabled") },
  twoFactor: {
    modelName: "auth_two_factors",
    fields: columns("userId", "backupCodes", "failedVerificationCount", "lockedUntil"),
  },
} as const;

const passkeyTables = {
  passkey: {
    modelName: "auth_passkeys",
    fields: columns("userId", "publicKey", "credentialID", "deviceType", "backedUp", "createdAt"),
  },
} as const;

/**
 * The library's way to its database, with session tokens stored as digests: who reads the database, or a copy of it, can
 * open no session. What the library looks up by a token comes back with that token; from any other look-up the digest
 * comes back, which opens nothing.
 */
function hashedSessions(inner: DBAdapter): DBAdapter {
  return { ...hashed(inner), transaction: (work) => inner.transaction((within) => work(hashed(within))) } as DBAdapter;
}

type Within = DBTransactionAdapter;

function hashed(inner: Within): Within {
  const asked = <Query extends { model: string; where?: Where[] | undefined }>(query: Query): Query =>
    query.model === "session" && query.where !== undefined ? { ...query, where: query.where.map(byDigest) } : query;
  return {
    ...inner,
    create: async (query) => {
      const row = query.data as { readonly token?: unknown };
      if (query.model !== "session" || typeof row.token !== "string") return await inner.create(query);
      const made = await inner.create({ ...query, data: { ...query.data, token: tokenDigest(row.token) } });
      return withTokens(made, [row.token]) as never;
    },
    findOne: async (query) => withTokens(await inner.findOne(asked(query)), tokensOf(query)) as never,
    findMany: async (query) => {
      const rows = await inner.findMany(asked(query));
      return rows.map((row) => withTokens(row, tokensOf(query))) as never;
    },
    update: async (query) => withTokens(await inner.update(asked(withoutToken(query))), tokensOf(query)) as never,
    updateMany: (query) => inner.updateMany(asked(withoutToken(query))),
    count: (query) => inner.count(asked(query)),
    delete: (query) => inner.delete(asked(query)),
    deleteMany: (query) => inner.deleteMany(asked(query)),
    consumeOne: async (query) => withTokens(await inner.consumeOne(asked(query)), tokensOf(query)) as never,
    incrementOne: async (query) => withTokens(await inner.incrementOne(asked(query)), tokensOf(query)) as never,
  };
}

function byDigest(where: Where): Where {
  if (where.field !== "token") return where;
  if (typeof where.value === "string") return { ...where, value: tokenDigest(where.value) };
  if (Array.isArray(where.value)) return { ...where, value: where.value.map((token) => tokenDigest(String(token))) };
  return where;
}

/** A session's token is given when it is made and never again. */
function withoutToken<Query extends { model: string; update: Record<string, unknown> }>(query: Query): Query {
  if (query.model !== "session" || !("token" in query.update)) return query;
  const { token: _token, ...update } = query.update;
  return { ...query, update };
}

function tokensOf(query: { model: string; where?: Where[] | undefined }): readonly string[] {
  if (query.model !== "session") return [];
  return (query.where ?? []).flatMap(({ field, value }) => (field === "token" ? [value].flat().map(String) : []));
}

function withTokens(row: unknown, tokens: readonly string[]): unknown {
  if (tokens.length === 0 || typeof row !== "object" || row === null || !("token" in row)) return row;
  const token = tokens.find((each) => tokenDigest(each) === row.token);
  return token === undefined ? row : { ...row, token };
}
