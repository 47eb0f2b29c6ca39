import type { OAuth2Tokens, OAuthIdTokenConfig, OAuthProvider } from "@better-auth/core/oauth2";
import { z } from "zod";
import { Failure } from "#core/index.ts";
import type { Observer, OidcAccount } from "#ports/index.ts";
import type { IssuerDocuments, IssuerMetadata } from "./issuer-documents.ts";
import { checkDomain, usableAddress } from "./oidc-domains.ts";

const claimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  email: z.string().optional(),
  email_verified: z.union([z.boolean(), z.string()]).optional(),
  name: z.string().optional(),
});
type Claims = z.infer<typeof claimsSchema>;

const tokensSchema = z.object({ id_token: z.string(), access_token: z.string().optional() });

const notAnAddress = "not-verified@address.invalid";

/** Signatures with a public key; `none` and shared secrets are not among them. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/**
 * An issuer of single sign-on (OpenID Connect Core 1.0, code flow with PKCE) as the library takes one. The library's own
 * plugin for this reads every issuer when it is built, and fails whole when one does not answer; and it would fetch past
 * our transport. State, nonce, PKCE and the linking of accounts stay the library's.
 */
export function oidcProvider(account: OidcAccount, documents: IssuerDocuments, observer: Observer): OAuthProvider {
  const provider: OAuthProvider<Claims> = {
    id: account.id as OAuthProvider["id"],
    name: account.name,
    requiresIdTokenNonce: true,
    accountIssuer: ({ profile }) => profile.iss,
    accountSubject: ({ profile }) => profile.sub,
    async createAuthorizationURL({ state, codeVerifier, redirectURI, idTokenNonce }) {
      const { authorization_endpoint } = await documents.metadata();
      const { createAuthorizationURL } = await import("@better-auth/core/oauth2");
      return await createAuthorizationURL({
        id: account.id,
        options: { clientId: account.clientId },
        authorizationEndpoint: authorization_endpoint,
        state,
        codeVerifier,
        redirectURI,
        scopes: ["openid", "email", "profile"],
        ...(idTokenNonce === undefined ? {} : { nonce: idTokenNonce }),
      });
    },
    async validateAuthorizationCode({ code, codeVerifier, redirectURI }) {
      return await noted(observer, account, () =>
        exchangeCode(account, documents, { code, codeVerifier: codeVerifier ?? "", redirectURI }),
      );
    },
    async getUserInfo(tokens) {
      const claims = await noted(observer, account, () => claimsOf(account, documents, provider, tokens)).catch(
        () => null,
      );
      if (claims === null) return null;
      const { email, name } = claims;
      checkDomain(account, email);
      const emailVerified = claims.email_verified === true || claims.email_verified === "true";
      return {
        // One that is not verified is nobody's: the library must find no user by it, and so tell nothing of who is here.
        user: {
          email: (emailVerified ? usableAddress(email ?? "") : null) ?? notAnAddress,
          emailVerified,
          name: name ?? email?.split("@", 1)[0] ?? "",
        },
        data: claims,
      };
    },
  };
  return provider as unknown as OAuthProvider;
}

/** RFC 6749 §4.1.3 with RFC 7636. */
async function exchangeCode(
  account: OidcAccount,
  documents: IssuerDocuments,
  given: { readonly code: string; readonly codeVerifier: string; readonly redirectURI: string },
): Promise<OAuth2Tokens> {
  const metadata = await documents.metadata();
  const form = new URLSearchParams({
    grant_type: "authorization_code",
    code: given.code,
    redirect_uri: given.redirectURI,
    code_verifier: given.codeVerifier,
  });
  const headers: Record<string, string> = {};
  if (takesBasic(metadata)) {
    const pair = `${encodeForm(account.clientId)}:${encodeForm(account.clientSecret.reveal())}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    form.set("client_id", account.clientId);
    form.set("client_secret", account.clientSecret.reveal());
  }
  const { status, json } = await documents.ask({ method: "POST", url: metadata.token_endpoint, headers, form });
  const read = tokensSchema.safeParse(json);
  if (status !== 200 || !read.success) {
    const { data } = z.object({ error: z.string().max(64) }).safeParse(json);
    throw new Failure("upstream_error", `The code was not taken: status ${status}, ${data?.error ?? "no ID token"}.`);
  }
  return { idToken: read.data.id_token, accessToken: read.data.access_token };
}

/** The basic form is what a server takes unless it says otherwise (Discovery 1.0 §3). */
function takesBasic(metadata: IssuerMetadata): boolean {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") || !methods.includes("client_secret_post");
}

/** RFC 6749 §2.3.1: both halves are form-encoded before they are joined. */
function encodeForm(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

/** The claims of an ID token that holds (Core 1.0 §3.1.3.7), with the e-mail address from the user info if it must be. */
async function claimsOf(
  account: OidcAccount,
  documents: IssuerDocuments,
  provider: OAuthProvider<Claims>,
  tokens: OAuth2Tokens & { readonly expectedIdTokenNonce?: string | undefined },
): Promise<Claims> {
  const { idToken, accessToken, expectedIdTokenNonce } = tokens;
  if (idToken === undefined || expectedIdTokenNonce === undefined) throw refused("there is no ID token");
  const metadata = await documents.metadata();
  const { verifyProviderIdToken } = await import("@better-auth/core/oauth2");
  const verifying = { ...provider, idToken: idTokenRules(account, documents, metadata) } as unknown as OAuthProvider;
  if (!(await verifyProviderIdToken(verifying, idToken, expectedIdTokenNonce))) {
    throw refused("the ID token does not hold (signature, issuer, audience, time or nonce)");
  }
  const claims = claimsSchema.parse(JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()));
  if (claims.email !== undefined || metadata.userinfo_endpoint === undefined || accessToken === undefined) {
    return claims;
  }
  const headers = { authorization: `Bearer ${accessToken}` };
  const { status, json } = await documents.ask({ method: "GET", url: metadata.userinfo_endpoint, headers });
  const info = z.looseObject({ sub: z.string() }).safeParse(json);
  // §5.3.2: an answer about somebody else must not be used.
  if (status !== 200 || !info.success || info.data.sub !== claims.sub) throw refused("the user info does not fit");
  return claimsSchema.parse({ ...info.data, iss: claims.iss, sub: claims.sub });
}

function idTokenRules(account: OidcAccount, documents: IssuerDocuments, metadata: IssuerMetadata): OAuthIdTokenConfig {
  const offered = metadata.id_token_signing_alg_values_supported ?? algorithms;
  return {
    issuer: metadata.issuer,
    audience: account.clientId,
    algorithms: algorithms.filter((algorithm) => offered.includes(algorithm)),
    jwks: ((header: { readonly kid?: string; readonly alg?: string }) => documents.key(header)) as never,
    verifyClaims: ({ aud, azp, exp, nonce }) =>
      typeof exp === "number" &&
      typeof nonce === "string" &&
      (azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === account.clientId),
  };
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

function refused(what: string): Failure {
  return new Failure("upstream_error", `Single sign-on was refused: ${what}.`);
}
