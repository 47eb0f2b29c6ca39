import type { Kysely } from "kysely";

/** The tables of sign-in as this module uses them. */
export interface AuthTables {
  auth_users: {
    id: string;
    name: string;
    email: string;
    email_verified: Flag;
    created_at: Time;
    updated_at: Time;
    two_factor_enabled: Flag;
    disabled: number;
    last_seen_at: number | null;
  };
  auth_sessions: {
    id: string;
    user_id: string;
    token: string;
    expires_at: Time;
    created_at: Time;
    updated_at: Time;
    ip_address: string | null;
    user_agent: string | null;
  };
  auth_accounts: {
    id: string;
    user_id: string;
    issuer: string;
    account_id: string;
    provider_id: string;
    password: string | null;
    created_at: Time;
    updated_at: Time;
  };
  auth_verifications: {
    id: string;
    identifier: string;
    value: string;
    expires_at: Time;
    created_at: Time;
    updated_at: Time;
  };
  auth_two_factors: { id: string; user_id: string };
  auth_passkeys: { id: string; user_id: string };
  /** Of links to a new password, which the people store makes. */
  password_resets: { user_id: string };
}

type Flag = number | boolean;
export type Time = string | Date;

/** The database with the forms that times and flags have in it: ISO 8601 text, and 0 or 1, also on PostgreSQL. */
export interface AuthDatabase {
  readonly kysely: Kysely<AuthTables>;
  time(ms: number): Time;
  flag(flag: boolean): Flag;
}

export function authDatabase(kysely: Kysely<AuthTables>): AuthDatabase {
  return { kysely, time: (ms) => new Date(ms).toISOString(), flag: (flag) => (flag ? 1 : 0) };
}

/** Unix milliseconds. */
export function millisecondsOf(time: Time): number {
  return new Date(time).getTime();
}
