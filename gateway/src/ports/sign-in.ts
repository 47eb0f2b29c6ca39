import type { Secret } from "#core/index.ts";

/** Somebody who may open the console. What they may do there is kept elsewhere, by their id. */
export interface User {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

/** A session that holds. `fresh`: signed in (or confirmed) lately enough for what is dangerous. */
export interface SignedIn {
  readonly user: User;
  readonly sessionId: string;
  readonly fresh: boolean;
  /** `set-cookie` lines that have to go with the answer: a session that was rotated or prolonged. */
  readonly cookies: readonly string[];
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
   * It speaks for addresses in these mail domains only, and whoever comes with one becomes a user. Empty: for any address,
   * and for users only who connected it to their account.
   */
  readonly allowedDomains: readonly string[];
  /** It asks for a second factor itself: whoever has one here is not asked again. */
  readonly secondFactorTrusted: boolean;
}

/** What happened at sign-in, for the audit log. */
export interface SignInEvent {
  readonly what:
    | "signed-in"
    | "sign-in-refused"
    /** An account or an address has used up its tries. */
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
    /** An issuer's identity opens a user's account from now on, or no longer. */
    | "oidc-connected"
    | "oidc-disconnected"
    | "sessions-ended";
  /** How they signed in, or tried to. */
  readonly by: "password" | "second-factor" | "passkey" | "oidc" | null;
  readonly userId: string | null;
  /** As it was typed where the user is unknown; null where nobody said. */
  readonly email: string | null;
  readonly ip: string;
}

/**
 * Sign-in to the console: passwords, passkeys, one-time codes, single sign-on, sessions. Implemented by a library; the
 * rest of the gateway sees this and nothing of the library.
 */
export interface SignIn {
  /** Answers everything under /api/auth. `ip` is the caller's address, for throttling. Never throws. */
  handle(request: Request, info: { readonly ip: string }): Promise<Response>;
  /** Whose session a request carries; null when it carries none that holds. */
  session(request: Request): Promise<SignedIn | null>;
  methods(): SignInMethods;
  /** A user with a password. Throws `invalid_request` when the address is taken or the password out of bounds. */
  createUser(user: { readonly email: string; readonly name: string; readonly password: string }): Promise<User>;
  /** Ends every session of a user: after a change of role, a reset of the password, a removal. */
  endSessions(userId: string): Promise<void>;
  /** Replaces the password without the old one and ends the sessions; for a reset by an administrator's link. */
  setPassword(userId: string, password: string): Promise<void>;
  /** Takes the user, with everything they sign in with. Their doings stay in the audit log. */
  removeUser(userId: string): Promise<void>;
  /** The accounts of single sign-on changed; from the next request on these count. */
  useOidc(accounts: readonly OidcAccount[]): void;
}
