import type { OAuthProvider } from "@better-auth/core/oauth2";
import { claimAt, Failure } from "#core/index.ts";
import type { NewIdentity, Observer, OidcAccount } from "#ports/index.ts";
import type { IssuerDocuments, IssuerMetadata } from "./issuer-documents.ts";
import { asciiDomain, checkDomain, isAllowed } from "./oidc-domains.ts";
import { claimsOf, exchangeCode, type IssuerClaims, refused } from "./oidc-tokens.ts";
import { learn } from "./oidc-trip.ts";
import { emailSchema } from "./person-schemas.ts";

const notAnAddress = "not-verified@address.invalid";

export interface ProviderOptions {
  readonly observer: Observer;
  /** Which claims the rules of an account read. */
  readonly pathsOf: (account: string) => Promise<readonly string[]>;
  /** Connects an identity to somebody whom a directory made and who waits for their first sign-in, if there is such a one. */
  readonly connect: (identity: NewIdentity) => Promise<void>;
}

/**
 * An issuer of single sign-on (OpenID Connect Core 1.0, code flow with PKCE) as the library takes one. The library's own
 * plugin for this reads every issuer when it is built, and fails whole when one does not answer; and it would fetch past
 * our transport. State, nonce, PKCE and the linking of accounts stay the library's.
 */
export function oidcProvider(
  account: OidcAccount,
  documents: IssuerDocuments,
  { observer, pathsOf, connect }: ProviderOptions,
): OAuthProvider {
  const issuer = { account, documents };
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
      const { kept, ...tokens } = await noted(observer, account, () =>
        exchangeCode(issuer, { code, codeVerifier: codeVerifier ?? "", redirectURI }),
      );
      learn({ refreshToken: account.offlineAccess ? kept : null });
      return tokens;
    },
    async getUserInfo(tokens) {
      const { idToken, accessToken, expectedIdTokenNonce: nonce } = tokens;
      const claims = await noted(observer, account, async () => {
        if (idToken === undefined || nonce === undefined) throw refused("there is no ID token");
        return await claimsOf(issuer, { idToken, accessToken, nonce, paths: await pathsOf(account.id) });
      }).catch(() => null);
      if (claims === null) return null;
      const { email, name } = claims;
      checkDomain(account, email);
      learn({ claims });
      const emailVerified = isVerified(account, claims);
      const address = emailVerified ? usableAddress(email ?? "") : null;
      if (address !== null) await connect(identityOf(account, claims, address));
      return {
        // One that is not verified is nobody's: the library must find no user by it, and so tell nothing of who is here.
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

/** As a directory may know the same person: by the verified address, or by the claim that the account names. */
function identityOf(account: OidcAccount, claims: IssuerClaims, verifiedEmail: string): NewIdentity {
  const ids = directoryClaim(account).map((claim) => claimAt(claims, claim));
  return {
    provider: account.id,
    issuer: claims.iss,
    subject: claims.sub,
    directoryIds: ids.flatMap((id) => (id.kind === "one" ? id.values.filter((value) => value !== "") : [])),
    verifiedEmail,
    speaksFor: (email) => isAllowed(account, email),
  };
}

/** None unless the account names one: `sub` and `oid` mean something else at other issuers, or are what people edit. */
function directoryClaim(account: OidcAccount): readonly string[] {
  if (account.directoryClaim !== null) return [account.directoryClaim];
  return isMicrosoft(account) ? ["oid"] : [];
}

/** Entra ID says in `xms_edov` what others say in `email_verified`: that the owner of the address's domain vouches for it. */
function isVerified(account: OidcAccount, claims: IssuerClaims): boolean {
  const said = [claims.email_verified, ...(isMicrosoft(account) ? [claims["xms_edov"]] : [])];
  return said.some((value) => value === true || value === "true" || value === 1 || value === "1");
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

/** Asks for a refresh token as OpenID Connect does (Core 1.0 §11), or as Google does, which does not know the scope. */
function offlineParts({ offlineAccess }: OidcAccount, { scopes_supported }: IssuerMetadata) {
  if (!offlineAccess) return { scopes: [], more: {} };
  if (scopes_supported === undefined || scopes_supported.includes("offline_access")) {
    return { scopes: ["offline_access"], more: {} };
  }
  return { scopes: [], more: { accessType: "offline", prompt: "consent" } };
}

/** A trip that fails is told to the operator, who alone can mend it; the user sees only that it failed. */
async function noted<Result>(observer: Observer, account: OidcAccount, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const problem = thrown instanceof Failure ? thrown.message : "an unexpected answer";
    observer.log("warn", "Single sign-on failed.", { account: account.id, issuer: account.issuer, problem });
    throw thrown;
  }
}

/**
 * An address as users here have one: ASCII, its domain by the name that the network knows. null for others: two that differ
 * must not become one by losing their case (`K`, the Kelvin sign, becomes a k).
 */
function usableAddress(email: string): string | null {
  const at = email.lastIndexOf("@");
  const read = emailSchema.safeParse(`${email.slice(0, at)}@${asciiDomain(email.slice(at + 1))}`);
  return read.success ? read.data : null;
}
