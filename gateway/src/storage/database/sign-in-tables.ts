/**
 * The tables of the console's sign-in. The library behind the port `SignIn` writes them, so
 * they keep its forms: a time is ISO 8601 text in SQLite and `timestamptz` in PostgreSQL, a flag 0 or 1 or a boolean.
 * Of `auth_users`, the columns from `administrator` on are ours alone and in the gateway's own forms.
 */
export interface SignInTables {
  auth_users: AuthUserTable;
  auth_sessions: AuthSessionTable;
  auth_accounts: AuthAccountTable;
  auth_verifications: AuthVerificationTable;
  auth_two_factors: AuthTwoFactorTable;
  auth_passkeys: AuthPasskeyTable;
}

interface AuthUserTable {
  id: string;
  name: string;
  /** Lower case. */
  email: string;
  email_verified: number;
  image: string | null;
  created_at: string;
  updated_at: string;
  two_factor_enabled: number;
  /** Of the console; null: as the browser says. */
  language: string | null;
  administrator: number;
  disabled: number;
  /** Unix milliseconds, right to about a minute; null: never. */
  last_seen_at: number | null;
}

/** `updated_at` is when it was last used. */
interface AuthSessionTable {
  id: string;
  user_id: string;
  /** The digest of what the cookie carries. */
  token: string;
  expires_at: string;
  created_at: string;
  updated_at: string;
  ip_address: string | null;
  user_agent: string | null;
}

/** What somebody signs in with: a password (issuer `local:credential`), or an account at an issuer of single sign-on. */
interface AuthAccountTable {
  id: string;
  user_id: string;
  issuer: string;
  account_id: string;
  provider_id: string;
  access_token: string | null;
  refresh_token: string | null;
  id_token: string | null;
  access_token_expires_at: string | null;
  refresh_token_expires_at: string | null;
  scope: string | null;
  /** argon2id, as a PHC string. */
  password: string | null;
  created_at: string;
  updated_at: string;
}

/** What is begun and not ended: a challenge, a sign-in that waits for its second factor, a trip to an issuer. */
interface AuthVerificationTable {
  id: string;
  identifier: string;
  value: string;
  expires_at: string;
  created_at: string;
  updated_at: string;
}

interface AuthTwoFactorTable {
  id: string;
  user_id: string;
  /** Sealed by the library with its own secret, like the backup codes. */
  secret: string;
  backup_codes: string;
  verified: number;
  failed_verification_count: number;
  locked_until: string | null;
}

interface AuthPasskeyTable {
  id: string;
  user_id: string;
  name: string | null;
  public_key: string;
  credential_id: string;
  counter: number;
  device_type: string;
  backed_up: number;
  transports: string | null;
  created_at: string | null;
  aaguid: string | null;
}
