import type { BetterAuthOptions, BetterAuthPlugin, DBAdapter, DBTransactionAdapter, Where } from "better-auth/types";
import { bounds } from "#core/index.ts";
import type { Ids, Observer, VersionedSecret } from "#ports/index.ts";
import type { Issuers } from "./oidc-issuers.ts";
import { admitByIssuer, oidcPlugin } from "./oidc-provider.ts";
import type { PasswordFunctions } from "./passwords.ts";
import { type AuthDatabase, type Sessions, tokenDigest } from "./sessions.ts";
import type { Site } from "./site.ts";

/** The sign-in library for one site. It only gets requests that we built from checked values. */
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

/** The header that passes the caller's address to the library. */
export const addressHeader = "x-sluice-address";
export const signInPage = "/console/sign-in";

/**
 * Loaded at the first sign-in: it takes about 60 ms of processor time and 25,000 objects, and most processes never need it. Passkeys
 * take as much again, so only their calls load them.
 */
export async function openLibrary(options: LibraryOptions, site: Site, withPasskeys: boolean): Promise<Library> {
  for (const load of parts) {
    await load();
    // Loading a module blocks the event loop, so waiting model calls go first.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const [{ betterAuth }, { getAdapter }] = await Promise.all([
    import("better-auth/minimal"),
    import("better-auth/db/adapter"),
  ]);
  const plugins = withPasskeys
    ? [await passkeyPlugin(site)]
    : [await twoFactorPlugin(), await oidcPlugin(options.issuers)];
  const settings: BetterAuthOptions = { ...baseOptions(options, site), plugins };
  const adapter = await getAdapter({
    ...settings,
    // Also on PostgreSQL: this sets the format of values, which is the same in both databases.
    database: { db: options.database, type: "sqlite", transaction: true },
  });
  const auth = betterAuth({ ...settings, database: () => hashedSessions(adapter) });
  // Invalid settings fail here and not at the first request.
  await auth.$context;
  return auth.handler;
}

/** Ordered so that each import takes only a few milliseconds. */
const parts: readonly (() => Promise<unknown>)[] = [
  () => import("@better-auth/core/instrumentation"),
  () => import("@better-auth/core/db"),
  () => import("@better-auth/core/social-providers"),
  () => import("better-auth/crypto"),
  () => import("better-auth/cookies"),
  () => import("better-auth/api"),
  () => import("better-auth/minimal"),
  () => import("better-auth/db/adapter"),
];

async function twoFactorPlugin(): Promise<BetterAuthPlugin> {
  const { twoFactor } = await import("better-auth/plugins/two-factor");
  return twoFactor({
    issuer: "Sluice",
    schema: twoFactorTables,
    twoFactorCookieMaxAge: bounds.secondFactorMs / 1_000,
    accountLockout: {
      enabled: true,
      maxFailedAttempts: bounds.signInTriesMax,
      durationSeconds: bounds.signInTriesMs / 1_000,
    },
  });
}

/** A passkey replaces both factors, so user verification is required. */
async function passkeyPlugin({ hostname, origin }: Site): Promise<BetterAuthPlugin> {
  const [{ passkey }, { APIError }] = await Promise.all([import("@better-auth/passkey"), import("better-auth/api")]);
  const verifiedByUser = (verified: boolean | undefined) => {
    if (verified !== true) throw new APIError("UNAUTHORIZED", { code: "AUTHENTICATION_FAILED" });
  };
  return passkey({
    rpID: hostname,
    rpName: "Sluice",
    origin,
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
  });
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
    // A list, so that the library does not read environment variables.
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
      // Sessions are not extended. Idle timeouts are checked by us.
      disableSessionRefresh: true,
      freshAge: bounds.sessionFreshMs / 1_000,
      cookieCache: { enabled: false },
    },
    account: {
      ...coreTables.account,
      updateAccountOnSignIn: false,
      storeStateStrategy: "database",
      // Identities are only connected by their signed-in user, never by address.
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
      // Tokens of the issuer are not needed after sign-in, and could leak.
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

/** The library's message of an error, without its data. */
function problemOf(details: readonly unknown[]): string | undefined {
  const error = details.find((detail) => detail instanceof Error);
  return error === undefined ? undefined : `${error.name}: ${error.message}`.slice(0, 300);
}

/** Library fields in snake case: credentialID is credential_id. */
function columns<Name extends string>(...names: readonly Name[]) {
  const named = names.map((name) => [name, name.replace(/([a-z])([A-Z]+)/g, "$1_$2").toLowerCase()]);
  return Object.fromEntries(named) as Record<Name, string>;
}

/** Table and column names for the library. */
const coreTables = {
  user: {
    modelName: "auth_users",
    fields: columns("emailVerified", "createdAt", "updatedAt"),
    // Only read, so that disabled users get no session. The library cannot write it.
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
 * The library's database adapter. Session tokens are stored as digests, so that a copy of the database opens no session. A look-up by
 * token returns that token, any other look-up the digest.
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

/** The token is only returned at creation. */
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
