import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { oidcDefaults, Secret } from "#core/index.ts";
import type { OidcAccount } from "#ports/index.ts";

/** The user who signs in at the issuer, and faults of its answers. */
export interface Answers {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the issuer does not publish. */
  readonly foreignKey?: boolean;
  /** Puts the email address only into the user info, for this subject. */
  readonly userInfo?: Readonly<Record<string, unknown>>;
  readonly tokenStatus?: number;
  /** The answer to a refresh token, instead of tokens. */
  readonly refresh?: { readonly status: number; readonly json: object };
  readonly iss?: string | null;
}

interface AuthorizationRequest {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly nonce: string;
  readonly scope: string;
}

const secret = "the client's secret: with a colon & more";

/** A small OpenID Connect issuer: discovery, keys, code flow with PKCE, user info. */
export class Issuer {
  readonly #server: Bun.Server<undefined>;
  readonly #keys = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  readonly #foreign = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  readonly #codes = new Map<string, AuthorizationRequest>();
  answers: Answers = {};
  up = true;
  /** Overrides of the discovery document. */
  metadata: Readonly<Record<string, unknown>> = {};
  /** Requests to the token endpoint. */
  readonly exchanges: { readonly form: URLSearchParams; readonly authorization: string | null }[] = [];
  requests = 0;
  /** The valid refresh token. */
  refreshToken = "";

  constructor() {
    this.#server = Bun.serve({
      idleTimeout: 0,
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => this.#answer(request),
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  account(more: Partial<OidcAccount> = {}): OidcAccount {
    return {
      id: "corp",
      name: "Corp",
      issuer: this.url,
      clientId: "sluice console",
      clientSecret: new Secret(secret),
      allowedDomains: [],
      ...oidcDefaults,
      ...more,
    };
  }

  /** The user consents. Returns the URL to which the browser is sent back. */
  consent(authorizeUrl: string): string {
    const query = new URL(authorizeUrl).searchParams;
    const code = randomBytes(16).toString("hex");
    this.#codes.set(code, {
      challenge: query.get("code_challenge") ?? "",
      redirectUri: query.get("redirect_uri") ?? "",
      nonce: query.get("nonce") ?? "",
      scope: query.get("scope") ?? "",
    });
    const back = new URL(query.get("redirect_uri") ?? "");
    back.searchParams.set("code", code);
    back.searchParams.set("state", query.get("state") ?? "");
    const iss = this.answers.iss === undefined ? this.url : this.answers.iss;
    if (iss !== null) back.searchParams.set("iss", iss);
    return back.href;
  }

  stop(): void {
    void this.#server.stop(true);
  }

  async #answer(request: Request): Promise<Response> {
    this.requests += 1;
    if (!this.up) return new Response("down for maintenance", { status: 503 });
    const { pathname } = new URL(request.url);
    if (pathname === "/.well-known/openid-configuration") return Response.json(this.#discovery());
    if (pathname === "/keys") {
      const key = { ...this.#keys.publicKey.export({ format: "jwk" }), kid: "key-1", use: "sig", alg: "RS256" };
      // A shared secret among the keys must never be used as one of them.
      return Response.json({ keys: [{ kty: "oct", kid: "key-2", k: "c2VjcmV0" }, key] });
    }
    // Users of this page have consented before.
    if (pathname === "/authorize") return Response.redirect(this.consent(request.url), 302);
    if (pathname === "/token") return await this.#token(request);
    if (pathname === "/userinfo") return Response.json(this.answers.userInfo ?? {});
    return new Response("not found", { status: 404 });
  }

  #discovery(): object {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/keys`,
      userinfo_endpoint: `${this.url}/userinfo`,
      id_token_signing_alg_values_supported: ["RS256", "HS256", "none"],
      token_endpoint_auth_methods_supported: ["client_secret_post", "client_secret_basic"],
      ...this.metadata,
    };
  }

  async #token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    this.exchanges.push({ form, authorization: request.headers.get("authorization") });
    if (form.get("grant_type") === "refresh_token") return this.#refreshed(form.get("refresh_token") ?? "");
    const authorized = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const verifier = form.get("code_verifier") ?? "";
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const good =
      authorized !== undefined &&
      authorized.challenge === challenge &&
      authorized.redirectUri === form.get("redirect_uri");
    if (!good || this.answers.tokenStatus !== undefined) {
      return Response.json({ error: "invalid_grant" }, { status: this.answers.tokenStatus ?? 400 });
    }
    const offline = authorized.scope.includes("offline_access") ? { refresh_token: this.#nextRefreshToken() } : {};
    return Response.json({
      id_token: this.#idToken(authorized.nonce),
      access_token: "opaque",
      token_type: "Bearer",
      ...offline,
    });
  }

  /** Each refresh token works once and returns the next one. */
  #refreshed(token: string): Response {
    const { refresh } = this.answers;
    if (refresh !== undefined) return Response.json(refresh.json, { status: refresh.status });
    if (token !== this.refreshToken) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const tokens = { id_token: this.#idToken(undefined), access_token: "opaque", token_type: "Bearer" };
    return Response.json({ ...tokens, refresh_token: this.#nextRefreshToken() });
  }

  #nextRefreshToken(): string {
    this.refreshToken = `refresh-${randomBytes(8).toString("hex")}`;
    return this.refreshToken;
  }

  #idToken(nonce: string | undefined): string {
    const seconds = Math.floor(Date.now() / 1_000);
    const claims = {
      iss: this.url,
      aud: "sluice console",
      sub: "subject-1",
      nonce,
      iat: seconds,
      exp: seconds + 300,
      email: "alice@example.org",
      email_verified: true,
      name: "Alice of Corp",
      ...this.answers.claims,
    };
    const header = { alg: "RS256", typ: "JWT", kid: "key-1", ...this.answers.header };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const { privateKey } = this.answers.foreignKey === true ? this.#foreign : this.#keys;
    return `${signed}.${header.alg === "none" ? "" : signature(signed, privateKey)}`;
  }
}

function signature(text: string, key: KeyObject): string {
  return createSign("sha256").update(text).sign(key).toString("base64url");
}
