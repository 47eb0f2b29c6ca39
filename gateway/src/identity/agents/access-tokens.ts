import { createHmac } from "node:crypto";
import { bounds, Failure, isSameText } from "#core/index.ts";
import type { AgentGrant } from "#directory/index.ts";
import type { Clock, Vault } from "#ports/index.ts";

/** Claims of a valid access token. */
export interface AccessClaims {
  readonly sessionId: string;
  readonly keyId: string;
}

/**
 * Access tokens of coding agents: JSON Web Tokens (RFC 7519), signed with a key derived from the master key, so that every process can
 * verify them without a request. Agents send the person's claims with their telemetry. The caller of `read` has to check whether the sign-in
 * is still active, which the token does not show.
 *
 * A refresh token contains its sign-in's id and a sequence number, signed in the same way. It is not stored.
 */
export class AccessTokens {
  readonly #vault: Pick<Vault, "derive" | "deriveValid">;
  readonly #clock: Pick<Clock, "now">;

  constructor(vault: Pick<Vault, "derive" | "deriveValid">, clock: Pick<Clock, "now">) {
    this.#vault = vault;
    this.#clock = clock;
  }

  /** `issuer`: the address that callers use. The lifetime is in seconds. */
  issue({ sessionId, expiresAt, person }: AgentGrant, issuer: string): { token: string; expiresIn: number } {
    const now = Math.floor(this.#clock.now() / 1_000);
    const expiresIn = Math.max(1, Math.min(bounds.accessTokenMs / 1_000, Math.floor(expiresAt / 1_000) - now));
    const claims = {
      iss: issuer,
      aud: audience,
      sub: person.userId,
      email: person.email,
      name: person.name,
      groups: [person.group],
      iat: now,
      exp: now + expiresIn,
      sid: sessionId,
      key: person.keyId,
    };
    const body = `${header}.${Buffer.from(JSON.stringify(claims)).toString("base64url")}`;
    return { token: `${body}.${signature(body, this.#vault.derive(...accessKey))}`, expiresIn };
  }

  /** Throws `invalid_api_key`, or `expired_api_key` unless `expired` is allowed. */
  read(token: string, { expired = false } = {}): AccessClaims {
    const end = token.lastIndexOf(".");
    const body = token.slice(0, Math.max(0, end));
    // The header is compared as a whole: nothing in a token chooses how it is checked.
    if (!hasAccessTokenFormat(token)) throw badToken();
    const valid = this.#vault
      .deriveValid(...accessKey, this.#clock.now())
      .some((key) => isSameText(token.slice(end + 1), signature(body, key)));
    if (!valid) throw badToken();
    const claims = JSON.parse(Buffer.from(body.slice(header.length + 1), "base64url").toString()) as SignedClaims;
    if (claims.aud !== audience) throw badToken();
    if (!expired && claims.exp * 1_000 <= this.#clock.now()) {
      throw new Failure("expired_api_key", "The access token has expired. Refresh it, or sign in again.");
    }
    return { sessionId: claims.sid, keyId: claims.key };
  }

  refreshToken({ sessionId, generation }: Pick<AgentGrant, "sessionId" | "generation">): string {
    return `${refreshStart}${sessionId}.${generation}.${this.#vault.derive(...refreshKey(sessionId, generation))}`;
  }

  /** null: not a refresh token of this installation. */
  readRefreshToken(token: string): { readonly sessionId: string; readonly generation: number } | null {
    const [, sessionId = "", count = "", proof = ""] = refreshPattern.exec(token) ?? [];
    if (sessionId === "") return null;
    const generation = Number(count);
    const valid = this.#vault.deriveValid(...refreshKey(sessionId, generation), this.#clock.now());
    return valid.some((expected) => isSameText(proof, expected)) ? { sessionId, generation } : null;
  }
}

type Derivation = readonly [purpose: string, id: string];

const accessKey: Derivation = ["access tokens of agents", "1"];

function refreshKey(sessionId: string, generation: number): Derivation {
  return ["refresh tokens of agents", `${sessionId}.${generation}`];
}

function signature(body: string, key: string): string {
  return createHmac("sha256", key).update(body).digest("base64url");
}

/** Compares our own header byte for byte, so keys and foreign tokens never match. */
export function hasAccessTokenFormat(credential: string): boolean {
  return credential.startsWith(headerStart);
}

/** The claims that `read` uses. */
interface SignedClaims {
  readonly aud: string;
  readonly exp: number;
  readonly sid: string;
  readonly key: string;
}

const audience = "sluice";
const header = Buffer.from('{"alg":"HS256","typ":"JWT","kid":"sluice-agents-1"}').toString("base64url");
const headerStart = `${header}.`;
const refreshStart = "sluice-refresh-";
const refreshPattern = /^sluice-refresh-(ags_[0-9A-Za-z_]{1,64})\.([1-9]\d{0,9})\.([\w-]{1,128})$/;

function badToken(): Failure {
  return new Failure("invalid_api_key", "The access token is invalid.");
}
