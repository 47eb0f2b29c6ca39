import type { Claims, Secret } from "#core/index.ts";

/** A user of the console. */
export interface User {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** `fresh`: the user signed in or confirmed recently enough for dangerous actions. */
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

/** The ways to sign in that the page offers. */
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
   * Email domains that may sign in and create users. Empty: any address, but only users who connected it to their account.
   */
  readonly allowedDomains: readonly string[];
  /** The issuer asks for a second factor, so the console does not. */
  readonly secondFactorTrusted: boolean;
  /** In addition to `openid`, `email` and `profile`. */
  readonly scopes: readonly string[];
  /** Request a refresh token, to recheck a person while agents are signed in. */
  readonly offlineAccess: boolean;
  /** Minimum time between rechecks of one person. */
  readonly recheckMinutes: number;
  /** How long agents may continue while the issuer does not answer. */
  readonly graceHours: number;
  /** The claim with a person's id in a directory (SCIM); null: `oid` for Microsoft's issuers, else none. */
  readonly directoryClaim: string | null;
  /** The config file no longer declares it; sign-in with it is disabled. */
  readonly suspended?: true;
}

/** For the audit log. */
export interface SignInEvent {
  readonly what:
    | "signed-in"
    | "sign-in-refused"
    /** Too many tries for an account or address. */
    | "sign-in-locked"
    | "signed-out"
    /** A person of an allowed domain signed in through single sign-on for the first time. */
    | "user-created"
    | "password-changed"
    | "two-factor-enabled"
    | "two-factor-disabled"
    | "backup-codes-made"
    | "passkey-added"
    | "passkey-removed"
    | "oidc-connected"
    | "oidc-disconnected"
    | "sessions-ended";
  readonly by: "password" | "second-factor" | "passkey" | "oidc" | null;
  readonly userId: string | null;
  /** As typed, if the user is unknown; null: none was given. */
  readonly email: string | null;
  readonly ip: string;
}

/** An issuer's claims about a user who signed in. */
interface SignInClaims {
  readonly userId: string;
  readonly account: string;
  readonly claims: Claims;
  readonly refreshToken: Secret | null;
  /** The session of this sign-in, which stays when others are ended; null: none yet. */
  readonly sessionToKeep: string | null;
}

export interface ClaimsReceiver {
  /** Claims to read of an account. */
  pathsOf(account: string): Promise<readonly string[]>;
  /** If it throws, the sign-in fails. */
  receive(signIn: SignInClaims): Promise<void>;
}

/** `unknown`: the account or connection no longer exists. */
type IssuerAnswer =
  | { readonly kind: "refused" | "unknown" }
  | { readonly kind: "claims"; readonly claims: Claims; readonly refreshToken: Secret };

/** A session of the console. Times are Unix milliseconds. */
export interface ConsoleSession {
  readonly createdAt: number;
  readonly seenAt: number;
  readonly endsAt: number;
  readonly ip: string;
  readonly userAgent: string;
}

/** Sign-in to the console. Hides the library that implements it. */
export interface SignIn {
  /** Answers everything under /api/auth. `ip`: for throttling. Never throws. */
  handle(request: Request, info: { readonly ip: string }): Promise<Response>;
  /** null: the request has no valid session. */
  session(request: Request): Promise<SignedIn | null>;
  /** The valid sessions of a user, the most recently used first. */
  sessionsOf(userId: string): Promise<readonly ConsoleSession[]>;
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
  /** Rechecks a person at the issuer by refresh token. Throws if the issuer does not answer properly. */
  recheckAtIssuer(person: {
    readonly account: string;
    readonly userId: string;
    readonly refreshToken: Secret;
  }): Promise<IssuerAnswer>;
  /** Recheck interval and grace period; null: unknown account. */
  recheckTimes(account: string): { readonly recheckMs: number; readonly graceMs: number } | null;
}

/** An identity at an issuer that no user has connected yet. */
export interface NewIdentity {
  readonly provider: string;
  readonly issuer: string;
  readonly subject: string;
  /** Ids by which a directory may know the person. */
  readonly directoryIds: readonly string[];
  /** Lower case. */
  readonly verifiedEmail: string;
  /** Whether the issuer is trusted for an address. */
  readonly mayVouchFor: (email: string) => boolean;
}

/** Sources of a person's claims: an account of single sign-on, by its id, or SCIM. */
export type RightsSource = `oidc:${string}` | "scim";
