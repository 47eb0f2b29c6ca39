import type { Claims, Secret } from "#core/index.ts";

/** A user of the console. Their rights are stored elsewhere, by their id. */
export interface User {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** A valid session. `fresh`: the user signed in or confirmed recently enough for dangerous actions. */
export interface SignedIn {
  readonly user: User;
  readonly sessionId: string;
  readonly fresh: boolean;
}

/** A user that can be stored. `email` is in lower case. */
export interface PreparedUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/** What the sign-in page offers. */
interface SignInMethods {
  readonly password: boolean;
  readonly passkey: boolean;
  readonly oidc: readonly { readonly id: string; readonly name: string }[];
}

export interface OidcAccount {
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  /**
   * Only addresses in these mail domains may use it, and a new one becomes a user. Empty: any address may use it, but only
   * users who connected it to their account.
   */
  readonly allowedDomains: readonly string[];
  /** It asks for a second factor itself; the console does not ask again. */
  readonly secondFactorTrusted: boolean;
  /** Asked for beside `openid`, `email` and `profile`. */
  readonly scopes: readonly string[];
  /** Ask for a refresh token, so that the issuer is asked again while agents are signed in. */
  readonly offlineAccess: boolean;
  /** How often at most it is asked again of one person. */
  readonly recheckMinutes: number;
  /** How long after its last word agents go on while it does not answer. */
  readonly graceHours: number;
  /** The claim that holds the id by which a directory (SCIM) knows the same person; null: `oid` at Microsoft's issuers, none elsewhere. */
  readonly directoryClaim: string | null;
  /** The config file no longer declares it, so sign-in with it is off. */
  readonly suspended?: true;
}

/** What happened at sign-in, for the audit log. */
export interface SignInEvent {
  readonly what:
    | "signed-in"
    | "sign-in-refused"
    /** Too many tries for an account or an address. */
    | "sign-in-locked"
    | "signed-out"
    /** Somebody of an allowed domain became a user by single sign-on. */
    | "user-created"
    | "password-changed"
    | "two-factor-enabled"
    | "two-factor-disabled"
    | "backup-codes-made"
    | "passkey-added"
    | "passkey-removed"
    /** A user connected or disconnected an identity of an issuer. */
    | "oidc-connected"
    | "oidc-disconnected"
    | "sessions-ended";
  /** How they signed in, or tried to. */
  readonly by: "password" | "second-factor" | "passkey" | "oidc" | null;
  readonly userId: string | null;
  /** As typed, if the user is unknown. null: none was given. */
  readonly email: string | null;
  readonly ip: string;
}

/** What an issuer says of somebody who came back from it. */
interface IssuerClaims {
  readonly userId: string;
  /** The id of the account. */
  readonly account: string;
  readonly claims: Claims;
  readonly refreshToken: Secret | null;
  /** The session that this sign-in opened; null: none yet. */
  readonly keptSession: string | null;
}

/** Who hears what issuers say of people. */
export interface ClaimsListener {
  /** Which claims are read of an account. */
  pathsOf(account: string): Promise<readonly string[]>;
  /** What it throws keeps the person out. */
  take(said: IssuerClaims): Promise<void>;
}

/** What an issuer answers that is asked again. `unknown`: the account or the connection is no more. */
type IssuerAnswer =
  | { readonly kind: "refused" | "unknown" }
  | { readonly kind: "claims"; readonly claims: Claims; readonly refreshToken: Secret };

/**
 * Sign-in to the console: passwords, passkeys, one-time codes, single sign-on, sessions. A library implements it. The rest
 * of the gateway uses only this interface.
 */
export interface SignIn {
  /** Answers everything under /api/auth. `ip` is the caller's address, for throttling. Never throws. */
  handle(request: Request, info: { readonly ip: string }): Promise<Response>;
  /** The session of a request. null: it has no valid one. */
  session(request: Request): Promise<SignedIn | null>;
  methods(): SignInMethods;
  /** Checks and normalizes a new user and hashes the password. Throws `invalid_request` for a wrong field. */
  prepareUser(user: {
    readonly email: string;
    readonly name: string;
    readonly password: string;
  }): Promise<PreparedUser>;
  /** Throws `invalid_request` for a wrong length, and `rate_limit_exceeded` when too many passwords wait to be hashed. */
  hashPassword(password: string): Promise<string>;
  /** Sets the accounts of single sign-on, from the next request on. */
  useOidc(accounts: readonly OidcAccount[]): void;
  /** Asks an issuer about somebody again, by its refresh token. Throws where it does not answer as it should. */
  askIssuer(asked: {
    readonly account: string;
    readonly userId: string;
    readonly refreshToken: Secret;
  }): Promise<IssuerAnswer>;
  /** How often an issuer is asked of one person, and how long its last word holds. null: there is no such account. */
  issuerPatience(account: string): { readonly recheckMs: number; readonly graceMs: number } | null;
}

/** An identity at an issuer of single sign-on that nobody has connected yet. */
export interface NewIdentity {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Ids that the directory may know the same person by. */
  readonly directoryIds: readonly string[];
  /** Lower case. */
  readonly verifiedEmail: string;
  /** Whether the issuer may speak for an address. */
  readonly speaksFor: (email: string) => boolean;
}

/** Who says something of people: an account of single sign-on, by its id, or SCIM. */
export type RightsSource = `oidc:${string}` | "scim";
