/** Users of the console, their sessions, accounts, second factors and passkeys. The sign-in library writes these tables. */
export const signInTables: readonly string[] = [
  `create table auth_users (
  id text not null primary key,
  name text not null,
  email text not null unique,
  email_verified flag not null,
  image text,
  language text,
  created_at moment not null,
  updated_at moment not null,
  two_factor_enabled flag not null default false,
  administrator integer not null default 0,
  disabled integer not null default 0,
  last_seen_at bigint
)`,

  `create table auth_sessions (
  id text not null primary key,
  user_id text not null references auth_users (id) on delete cascade,
  token text not null unique,
  expires_at moment not null,
  created_at moment not null,
  updated_at moment not null,
  ip_address text,
  user_agent text
)`,
  "create index auth_sessions_user on auth_sessions (user_id)",
  "create index auth_sessions_end on auth_sessions (expires_at)",

  `create table auth_accounts (
  id text not null primary key,
  user_id text not null references auth_users (id) on delete cascade,
  issuer text not null,
  account_id text not null,
  provider_id text not null,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at moment,
  refresh_token_expires_at moment,
  scope text,
  password text,
  created_at moment not null,
  updated_at moment not null,
  constraint auth_accounts_subject_unique unique (issuer, account_id)
)`,
  "create index auth_accounts_user on auth_accounts (user_id)",

  `create table auth_verifications (
  id text not null primary key,
  identifier text not null,
  value text not null,
  expires_at moment not null,
  created_at moment not null,
  updated_at moment not null
)`,
  "create index auth_verifications_identifier on auth_verifications (identifier)",
  "create index auth_verifications_value on auth_verifications (value)",
  "create index auth_verifications_end on auth_verifications (expires_at)",

  `create table auth_two_factors (
  id text not null primary key,
  user_id text not null references auth_users (id) on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified flag not null,
  failed_verification_count integer not null default 0,
  locked_until moment
)`,
  "create unique index auth_two_factors_user on auth_two_factors (user_id)",

  `create table auth_passkeys (
  id text not null primary key,
  user_id text not null references auth_users (id) on delete cascade,
  name text,
  public_key text not null,
  credential_id text not null unique,
  counter bigint not null,
  device_type text not null,
  backed_up flag not null,
  transports text,
  created_at moment,
  aaguid text
)`,
  "create index auth_passkeys_user on auth_passkeys (user_id)",
];
