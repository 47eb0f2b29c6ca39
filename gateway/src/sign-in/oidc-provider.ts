import { AsyncLocalStorage } from "node:async_hooks";
import type { OAuthProvider } from "@better-auth/core/oauth2";
import type { BetterAuthOptions, BetterAuthPlugin } from "better-auth/types";
import { bounds, type Claims, claimAt, Failure, type Secret } from "#core/index.ts";
import type { NewIdentity, Observer, OidcAccount } from "#ports/index.ts";
import { asciiDomain, checkDomain, type Issuer, type Issuers, type IssuersOptions, isAllowed } from "./oidc-issuers.ts";
import { claimsOf, exchangeCode, type IssuerClaims, ssoRefused } from "./oidc-tokens.ts";
import { emailSchema, type IssuerMetadata } from "./schemas.ts";

/**
 * Registers the issuers with the library, and asks for the second factor after single sign-on too. The library only does so after a
 * password, so an issuer without a second factor would otherwise bypass it.
 */
export async function oidcPlugin(issuers: Issuers): Promise<BetterAuthPlugin> {
  const [{ createAuthMiddleware }, { deleteSessionCookie }, { generateRandomString }] = await Promise.all([
    import("better-auth/api"),
    import("better-auth/cookies"),
    import("better-auth/crypto"),
  ]);
  const askForCode = createAuthMiddleware(async (context) => {
    const opened = context.context.newSession;
    if (!opened) return;
    record({ userId: opened.user.id });
    const account = issuers.account(String(context.params?.["id"] ?? ""));
    const { twoFactorEnabled } = opened.user as { readonly twoFactorEnabled?: unknown };
    if (!twoFactorEnabled || account?.secondFactorTrusted === true) return;
    const { internalAdapter, secret } = context.context;
    deleteSessionCookie(context, true);
    await internalAdapter.deleteSession(opened.session.token);
    context.context.setNewSession(null);
    // From here on it equals a sign-in with the right password: see the library's hook of this plugin.
    const cookie = context.context.createAuthCookie("two_factor", { maxAge: bounds.secondFactorMs / 1_000 });
    const identifier = `2fa-${generateRandomString(20)}`;
    const expiresAt = new Date(Date.now() + bounds.secondFactorMs);
    await internalAdapter.createVerificationValue({ value: opened.user.id, identifier, expiresAt });
    await internalAdapter.createVerificationValue({ value: "0", identifier: `2fa-attempts-${identifier}`, expiresAt });
    await context.setSignedCookie(cookie.name, identifier, secret, cookie.attributes);
  });
  return {
    id: "sluice-oidc",
    init: () => ({
      context: { socialProviders: issuers.all().map((issuer) => oidcProvider(issuer, issuers.options)) },
    }),
    hooks: { after: [{ matcher: ({ path }) => path?.startsWith("/callback/") === true, handler: askForCode }] },
  };
}

type Validate = NonNullable<NonNullable<BetterAuthOptions["user"]>["validateUserInfo"]>;

/**
 * Creates users and connects identities. A new user needs a verified address in one of the account's domains. An identity (issuer and
 * subject) is only connected to the signed-in user who started this from their profile, never by its address.
 */
export function admitByIssuer(
  issuers: Issuers,
  signedInLately: (headers: Headers) => Promise<string | null>,
): Validate {
  return async ({ user, source }, context) => {
    const account = issuers.account(source.oauth?.providerId ?? "");
    if (source.method !== "oauth" || account === null) return { error: "not_admitted" };
    if (source.action === "sign-in") return;
    if (source.action === "link-account") {
      const userId = await signedInLately(context.headers ?? new Headers());
      return userId !== null && userId === user.id ? undefined : { error: "sign_in_first" };
    }
    if (user.emailVerified !== true) return { error: "email_not_verified" };
    const email = user.email ?? "";
    return isAllowed(account, email) ? undefined : { error: "not_invited" };
  };
}

const notAnAddress = "not-verified@address.invalid";

/**
 * An issuer (OpenID Connect Core 1.0, code flow with PKCE) for the library. The library's own plugin reads every issuer when it is built,
 * fails if one is down, and does not use our transport. State, nonce, PKCE and account linking stay the library's.
 */
function oidcProvider(issuer: Issuer, { observer, pathsOf, connect }: IssuersOptions): OAuthProvider {
  const { account, documents } = issuer;
  const provider: OAuthProvider<IssuerClaims> = {
    id: account.id as OAuthProvider["id"],
    name: account.name,
    requiresIdTokenNonce: true,
    accountIssuer: ({ profile }) => profile.iss,
    accountSubject: ({ profile }) => profile.sub,
    async createAuthorizationURL({ state, codeVerifier, redirectURI, idTokenNonce }) {
      const metadata = await documents.metadata();
      const offline = offlineParts(account, metadata);
      const { createAuthorizationURL } = await import("@better-auth/core/oauth2");
      return await createAuthorizationURL({
        id: account.id,
        options: { clientId: account.clientId },
        authorizationEndpoint: metadata.authorization_endpoint,
        state,
        codeVerifier,
        redirectURI,
        scopes: [...new Set(["openid", "email", "profile", ...account.scopes, ...offline.scopes])],
        ...offline.more,
        ...(idTokenNonce === undefined ? {} : { nonce: idTokenNonce }),
      });
    },
    async validateAuthorizationCode({ code, codeVerifier, redirectURI }) {
      const { kept, ...tokens } = await logFailure(observer, account, () =>
        exchangeCode(issuer, { code, codeVerifier: codeVerifier ?? "", redirectURI }),
      );
      record({ refreshToken: account.offlineAccess ? kept : null });
      return tokens;
    },
    async getUserInfo(tokens) {
      const { idToken, accessToken, expectedIdTokenNonce: nonce } = tokens;
      const claims = await logFailure(observer, account, async () => {
        if (idToken === undefined || nonce === undefined) throw ssoRefused("there is no ID token");
        return await claimsOf(issuer, { idToken, accessToken, nonce, paths: await pathsOf(account.id) });
      }).catch(() => null);
      if (claims === null) return null;
      const { email, name } = claims;
      checkDomain(account, email);
      record({ claims });
      const emailVerified = isVerified(account, claims);
      const address = emailVerified ? usableAddress(email ?? "") : null;
      if (address !== null) await connect(identityOf(account, claims, address));
      return {
        // An unverified address is dropped: the library must not find a user by it or reveal that one exists.
        user: {
          email: address ?? notAnAddress,
          emailVerified,
          name: name ?? email?.split("@", 1)[0] ?? "",
        },
        data: claims,
      };
    },
  };
  return provider as unknown as OAuthProvider;
}

/** How a directory may identify the same user: by the verified address, or by the claim that the account names. */
function identityOf(account: OidcAccount, claims: IssuerClaims, verifiedEmail: string): NewIdentity {
  const ids = directoryClaim(account).map((claim) => claimAt(claims, claim));
  return {
    provider: account.id,
    issuer: claims.iss,
    subject: claims.sub,
    directoryIds: ids.flatMap((id) => (id.kind === "one" ? id.values.filter((value) => value !== "") : [])),
    verifiedEmail,
    mayVouchFor: (email) => isAllowed(account, email),
  };
}

/** Only if the account names a claim: at other issuers `sub` and `oid` differ or can be edited by users. */
function directoryClaim(account: OidcAccount): readonly string[] {
  if (account.directoryClaim !== null) return [account.directoryClaim];
  return isMicrosoft(account) ? ["oid"] : [];
}

/** Entra ID uses `xms_edov` instead of `email_verified`. */
function isVerified(account: OidcAccount, claims: IssuerClaims): boolean {
  const verifiedClaims = [claims.email_verified, ...(isMicrosoft(account) ? [claims["xms_edov"]] : [])];
  return verifiedClaims.some((value) => value === true || value === "true" || value === 1 || value === "1");
}

const microsoftHosts: ReadonlySet<string> = new Set([
  "login.microsoftonline.com",
  "login.microsoftonline.us",
  "login.partner.microsoftonline.cn",
  "sts.windows.net",
]);

function isMicrosoft({ issuer }: OidcAccount): boolean {
  return microsoftHosts.has(new URL(issuer).hostname);
}

/** Requests a refresh token by scope (Core 1.0 §11), or by Google's own parameter. */
function offlineParts({ offlineAccess }: OidcAccount, { scopes_supported }: IssuerMetadata) {
  if (!offlineAccess) return { scopes: [], more: {} };
  if (scopes_supported === undefined || scopes_supported.includes("offline_access")) {
    return { scopes: ["offline_access"], more: {} };
  }
  return { scopes: [], more: { accessType: "offline", prompt: "consent" } };
}

/** Details of a failure are logged for the operator; the user only sees that it failed. */
async function logFailure<Result>(
  observer: Observer,
  account: OidcAccount,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const problem = thrown instanceof Failure ? thrown.message : "an unexpected answer";
    observer.log("warn", "single sign-on failed", { account: account.id, issuer: account.issuer, problem });
    throw thrown;
  }
}

/**
 * Normalizes an address: ASCII, with an encoded domain. null for others, since two different addresses must not become equal by
 * lower-casing (`K`, the Kelvin sign, becomes k).
 */
function usableAddress(email: string): string | null {
  const at = email.lastIndexOf("@");
  const read = emailSchema.safeParse(`${email.slice(0, at)}@${asciiDomain(email.slice(at + 1))}`);
  return read.success ? read.data : null;
}

/** Facts from one callback, which the library cannot return. */
export interface CallbackFacts {
  claims: Claims | null;
  refreshToken: Secret | null;
  /** The user who signed in, also if a second factor is pending; null: no user, or an account is being connected. */
  userId: string | null;
}

const callbacks = new AsyncLocalStorage<CallbackFacts>();

/** Runs `work` and returns its result with these facts. */
export async function recordCallback<Result>(
  work: () => Promise<Result>,
): Promise<{ result: Result; trip: CallbackFacts }> {
  const trip: CallbackFacts = { claims: null, refreshToken: null, userId: null };
  return { result: await callbacks.run(trip, work), trip };
}

/** Records facts during a callback. */
function record(facts: Partial<CallbackFacts>): void {
  const trip = callbacks.getStore();
  if (trip !== undefined) Object.assign(trip, facts);
}
