import type { OAuth2Tokens, OAuthIdTokenConfig, OAuthProvider } from "@better-auth/core/oauth2";
import { z } from "zod";
import { type Claims, claimAt, Failure, Secret } from "#core/index.ts";
import type { Issuer } from "./oidc-issuers.ts";
import type { IssuerMetadata } from "./schemas.ts";

const claimsSchema = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  email: z.string().optional(),
  email_verified: z.union([z.boolean(), z.string()]).optional(),
  name: z.string().optional(),
});
export type IssuerClaims = z.infer<typeof claimsSchema>;

const refreshToken = z.string().min(1).max(16_384);
const tokensSchema = z.object({
  id_token: z.string(),
  access_token: z.string().optional(),
  refresh_token: refreshToken.optional(),
});
/** Core 1.0 §12.2: a refresh may come without an ID token. */
const refreshedSchema = tokensSchema.extend({ id_token: z.string().optional() });

/** Public key signatures only, not `none` or shared secrets. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];

/** RFC 6749 §4.1.3 with RFC 7636. */
export async function exchangeCode(
  issuer: Issuer,
  given: { readonly code: string; readonly codeVerifier: string; readonly redirectURI: string },
): Promise<OAuth2Tokens & { readonly kept: Secret | null }> {
  const { status, json } = await askForTokens(issuer, {
    grant_type: "authorization_code",
    code: given.code,
    redirect_uri: given.redirectURI,
    code_verifier: given.codeVerifier,
  });
  const read = tokensSchema.safeParse(json);
  if (status !== 200 || !read.success) {
    throw new Failure(
      "upstream_error",
      `The code was not accepted: status ${status}, ${errorOf(json) ?? "no ID token"}.`,
    );
  }
  const { id_token, access_token, refresh_token } = read.data;
  return { idToken: id_token, accessToken: access_token, kept: secretOf(refresh_token) };
}

/** Result of checking a user with the issuer. `refused`: the refresh token is no longer valid. */
type RefreshAnswer =
  | { readonly kind: "refused" }
  | { readonly kind: "claims"; readonly claims: Claims; readonly refreshToken: Secret };

/** RFC 6749 §6. Throws Failure for other errors, which are not about the user. */
export async function refreshClaims(
  issuer: Issuer,
  asked: { readonly refreshToken: Secret; readonly subject: string; readonly paths: readonly string[] },
): Promise<RefreshAnswer> {
  const form = { grant_type: "refresh_token", refresh_token: asked.refreshToken.reveal() };
  const { status, json } = await askForTokens(issuer, form);
  if (errorOf(json) === "invalid_grant" && (status === 400 || status === 401)) return { kind: "refused" };
  const read = refreshedSchema.safeParse(json);
  if (status !== 200 || !read.success) {
    const error = errorOf(json) ?? "no tokens";
    throw new Failure("upstream_error", `The refresh token was not accepted: status ${status}, ${error}.`);
  }
  const { id_token, access_token, refresh_token } = read.data;
  const tokens = { idToken: id_token, accessToken: access_token, nonce: null, paths: asked.paths };
  const claims = await refreshedClaims(issuer, tokens);
  if (claims["sub"] !== asked.subject) throw ssoRefused("the answer is about another user");
  return { kind: "claims", claims, refreshToken: secretOf(refresh_token) ?? asked.refreshToken };
}

async function refreshedClaims(
  issuer: Issuer,
  { idToken, ...read }: Omit<TokensRead, "idToken"> & { readonly idToken: string | undefined },
): Promise<Claims> {
  if (idToken !== undefined) return await claimsOf(issuer, { idToken, ...read });
  const { userinfo_endpoint: url } = await issuer.documents.metadata();
  if (url === undefined || read.accessToken === undefined) throw ssoRefused("there is no ID token");
  return await askUserInfo(issuer, url, read.accessToken);
}

interface TokensRead {
  readonly idToken: string;
  readonly accessToken: string | undefined;
  /** null for a refresh. */
  readonly nonce: string | null;
  /** The claims needed. The user info endpoint is called if the ID token lacks some. */
  readonly paths: readonly string[];
}

/** The claims of a valid ID token (Core 1.0 §3.1.3.7), completed from the user info. */
export async function claimsOf(
  issuer: Issuer,
  { idToken, accessToken, nonce, paths }: TokensRead,
): Promise<IssuerClaims> {
  const metadata = await issuer.documents.metadata();
  const { verifyProviderIdToken } = await import("@better-auth/core/oauth2");
  const verifying = { options: {}, idToken: idTokenRules(issuer, metadata, nonce) } as unknown as OAuthProvider;
  if (!(await verifyProviderIdToken(verifying, idToken, nonce ?? undefined))) {
    throw ssoRefused("the ID token does not hold (signature, issuer, audience, time or nonce)");
  }
  const claims = claimsSchema.parse(JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()));
  const complete = claims.email !== undefined && paths.every((path) => claimAt(claims, path).kind !== "missing");
  if (complete || metadata.userinfo_endpoint === undefined || accessToken === undefined) return claims;
  const info = await askUserInfo(issuer, metadata.userinfo_endpoint, accessToken);
  // §5.3.2: an answer about another subject must not be used.
  if (info["sub"] !== claims.sub)
    throw ssoRefused("the user info is about another user than the ID token (another `sub`)");
  // Address and verification must come from the same source.
  const { email, email_verified } = claims.email === undefined ? info : claims;
  return claimsSchema.parse({ ...info, ...claims, email, email_verified });
}

async function askUserInfo({ documents }: Issuer, url: string, accessToken: string): Promise<Claims> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const { status, json } = await documents.ask({ method: "GET", url, headers });
  const info = z.looseObject({ sub: z.string() }).safeParse(json);
  if (status !== 200) throw ssoRefused(`the user info was not given (status ${status})`);
  if (!info.success) throw ssoRefused("the user info must be JSON with a string `sub`");
  return info.data;
}

async function askForTokens({ account, documents }: Issuer, fields: Readonly<Record<string, string>>) {
  const metadata = await documents.metadata();
  const form = new URLSearchParams(fields);
  const headers: Record<string, string> = {};
  if (takesBasic(metadata)) {
    const pair = `${encodeForm(account.clientId)}:${encodeForm(account.clientSecret.reveal())}`;
    headers["authorization"] = `Basic ${Buffer.from(pair).toString("base64")}`;
  } else {
    form.set("client_id", account.clientId);
    form.set("client_secret", account.clientSecret.reveal());
  }
  return await documents.ask({ method: "POST", url: metadata.token_endpoint, headers, form });
}

/** Basic is the default (Discovery 1.0 §3). */
function takesBasic(metadata: IssuerMetadata): boolean {
  const methods = metadata.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
  return methods.includes("client_secret_basic") || !methods.includes("client_secret_post");
}

/** RFC 6749 §2.3.1: both parts are form-encoded. */
function encodeForm(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

function idTokenRules(
  { account, documents }: Issuer,
  metadata: IssuerMetadata,
  nonce: string | null,
): OAuthIdTokenConfig {
  const offered = metadata.id_token_signing_alg_values_supported ?? algorithms;
  return {
    issuer: metadata.issuer,
    audience: account.clientId,
    algorithms: algorithms.filter((algorithm) => offered.includes(algorithm)),
    jwks: ((header: { readonly kid?: string; readonly alg?: string }) => documents.key(header)) as never,
    verifyClaims: ({ aud, azp, exp, nonce: answered }) =>
      typeof exp === "number" &&
      (nonce === null || typeof answered === "string") &&
      (azp === undefined ? !Array.isArray(aud) || aud.length === 1 : azp === account.clientId),
  };
}

function errorOf(json: unknown): string | null {
  const { data } = z.object({ error: z.string().max(64) }).safeParse(json);
  return data?.error ?? null;
}

function secretOf(token: string | undefined): Secret | null {
  return token === undefined ? null : new Secret(token);
}

export function ssoRefused(what: string): Failure {
  return new Failure("upstream_error", `Single sign-on was refused: ${what}.`);
}
