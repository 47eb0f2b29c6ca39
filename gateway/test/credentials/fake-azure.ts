import { constants, createHash, verify, X509Certificate } from "node:crypto";
import type { Clock } from "#ports/index.ts";
import type { Issuer } from "./issuers.ts";

/**
 * Entra ID's token endpoint and both managed identity endpoints. Assertions of certificates are verified.
 * https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
 */
export class FakeAzure {
  readonly #clock: Clock;
  tenant = "11111111-2222-3333-4444-555555555555";
  client = "app-1";
  secret = "app-secret";
  federatedToken = "eyJ.federated";
  /** The registered certificate (PEM). */
  certificate: string | null = null;
  identityHeader = "identity-header";
  #count = 0;
  readonly scopes: string[] = [];
  readonly clients: (string | null)[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly entra: Issuer = async (request) => {
    const url = new URL(request.url);
    const form = new URLSearchParams(await request.text());
    if (url.pathname !== `/${this.tenant}/oauth2/v2.0/token`) return entraError(400, "invalid_request", "AADSTS90002");
    if (form.get("grant_type") !== "client_credentials" || form.get("client_id") !== this.client) {
      return entraError(400, "unauthorized_client", "AADSTS700016");
    }
    const type = form.get("client_assertion_type");
    const assertion = form.get("client_assertion") ?? "";
    const isJwt = type === "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    const isProven =
      form.get("client_secret") === this.secret ||
      (isJwt && (assertion === this.federatedToken || this.#isSigned(assertion, url.origin + url.pathname)));
    if (!isProven) return entraError(401, "invalid_client", "AADSTS7000215");
    this.scopes.push(form.get("scope") ?? "");
    return Response.json({
      token_type: "Bearer",
      expires_in: 3599,
      ext_expires_in: 3599,
      access_token: `entra-${++this.#count}`,
    });
  };

  readonly metadata: Issuer = (request) => {
    const { pathname, searchParams } = new URL(request.url);
    // The SDK for JavaScript adds a slash.
    const isRight =
      /^\/metadata\/identity\/oauth2\/token\/?$/.test(pathname) && searchParams.get("api-version") === "2018-02-01";
    if (request.headers.get("metadata") !== "true" || !isRight || request.method !== "GET") {
      return Response.json({ error: "invalid_request", error_description: "canary" }, { status: 400 });
    }
    return this.#managed(searchParams, { expires_in: "86399" });
  };

  readonly hosted: Issuer = (request) => {
    const { searchParams } = new URL(request.url);
    const isRight = searchParams.get("api-version") === "2019-08-01";
    if (request.headers.get("x-identity-header") !== this.identityHeader || !isRight) {
      return Response.json({ statusCode: 403, message: "canary" }, { status: 403 });
    }
    return this.#managed(searchParams, {});
  };

  #managed(query: URLSearchParams, more: object): Response {
    this.scopes.push(query.get("resource") ?? "");
    this.clients.push(query.get("client_id"));
    const end = Math.floor(this.#clock.now() / 1_000) + 86_399;
    return Response.json({
      access_token: `managed-${++this.#count}`,
      client_id: query.get("client_id") ?? "system",
      expires_on: String(end),
      resource: query.get("resource"),
      token_type: "Bearer",
      ...more,
    });
  }

  /** https://learn.microsoft.com/entra/identity-platform/certificate-credentials */
  #isSigned(assertion: string, audience: string): boolean {
    const [head = "", body = "", signature = ""] = assertion.split(".");
    if (this.certificate === null || signature === "") return false;
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
    const [header, claims] = [read(head), read(body)];
    const certificate = new X509Certificate(this.certificate);
    const thumbprint = createHash("sha256").update(certificate.raw).digest("base64url");
    if (header["alg"] !== "PS256" || header["typ"] !== "JWT" || header["x5t#S256"] !== thumbprint) return false;
    const seconds = this.#clock.now() / 1_000;
    const isOurs = claims["iss"] === this.client && claims["sub"] === this.client && claims["aud"] === audience;
    const isValid =
      Number(claims["nbf"]) <= seconds && Number(claims["exp"]) > seconds && typeof claims["jti"] === "string";
    const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
    const key = { key: certificate.publicKey, ...padding };
    return (
      isOurs && isValid && verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"))
    );
  }
}

function entraError(status: number, error: string, code: string): Response {
  const error_description = `${code}: canary of tenant 'contoso'. Trace ID: 1`;
  return Response.json({ error, error_description, error_codes: [Number(code.slice(6))] }, { status });
}
