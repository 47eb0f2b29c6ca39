/** Members, invitations, admin tokens, and the limits and groups of people. A row is deleted with its user or workspace. */
export const peopleTables: readonly string[] = [
  `create table members (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references auth_users (id) on delete cascade,
  role text not null,
  since bigint not null,
  constraint members_pk primary key (workspace_id, user_id)
)`,
  "create index members_user on members (user_id)",

  `create table saved_views (
  id text not null primary key,
  owner_id text not null references auth_users (id) on delete cascade,
  workspace_id text references workspaces (id) on delete cascade,
  page text not null,
  name text not null,
  state text not null,
  shared integer not null,
  created_at bigint not null,
  updated_at bigint not null
)`,
  "create index saved_views_owner on saved_views (owner_id)",
  "create index saved_views_workspace on saved_views (workspace_id)",

  `create table key_requests (
  id text not null primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  requester_id text not null references auth_users (id) on delete cascade,
  purpose text not null,
  state text not null,
  requested text not null,
  granted text,
  reason text,
  decided_by text,
  decided_at bigint,
  key_id text,
  created_at bigint not null,
  expires_at bigint not null
)`,
  "create index key_requests_workspace on key_requests (workspace_id, id)",
  "create index key_requests_requester on key_requests (requester_id)",
  "create index key_requests_state on key_requests (state, workspace_id)",

  `create table playground_shares (
  id text not null primary key,
  workspace_id text not null references workspaces (id) on delete cascade,
  owner_id text not null references auth_users (id) on delete cascade,
  models text not null,
  session text not null,
  created_at bigint not null,
  expires_at bigint not null
)`,
  "create index playground_shares_place on playground_shares (workspace_id, owner_id)",
  "create index playground_shares_owner on playground_shares (owner_id)",

  `create table invitations (
  id text not null primary key,
  email text not null,
  administrator integer not null,
  workspace_id text references workspaces (id) on delete cascade,
  role text,
  digest text not null unique,
  invited_by text not null references auth_users (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint not null
)`,
  "create index invitations_place on invitations (workspace_id, email)",
  "create index invitations_inviter on invitations (invited_by)",

  `create table admin_tokens (
  id text not null primary key,
  name text not null,
  digest text not null unique,
  prefix text not null,
  administrator integer not null,
  workspace_id text references workspaces (id) on delete cascade,
  role text,
  scope text,
  owner_id text not null references auth_users (id) on delete cascade,
  made_with text references admin_tokens (id) on delete cascade,
  created_at bigint not null,
  expires_at bigint,
  last_used_at bigint
)`,
  "create index admin_tokens_owner on admin_tokens (owner_id)",
  "create index admin_tokens_workspace on admin_tokens (workspace_id)",
  "create index admin_tokens_made_with on admin_tokens (made_with)",

  `create table password_resets (
  user_id text not null primary key references auth_users (id) on delete cascade,
  digest text not null unique,
  expires_at bigint not null
)`,

  `create table person_limits (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references auth_users (id) on delete cascade,
  limits text not null,
  budget text,
  constraint person_limits_pk primary key (workspace_id, user_id)
)`,
  "create index person_limits_user on person_limits (user_id)",

  `create table person_groups (
  user_id text not null references auth_users (id) on delete cascade,
  workspace_id text not null references workspaces (id) on delete cascade,
  group_id text not null references groups (id) on delete cascade,
  constraint person_groups_key primary key (user_id, workspace_id)
)`,
  "create index person_groups_group on person_groups (group_id)",

  // Attempts at passwords, codes and links, counted for all processes together.
  `create table tries (
  name text not null primary key,
  count bigint not null,
  used_up bigint not null,
  length_ms bigint not null,
  ends_at bigint not null
)`,
];

/** People as single sign-on and SCIM describe them, and the rights that rules grant them. */
export const rightsTables: readonly string[] = [
  `create table person_claims (
  user_id text not null references auth_users (id) on delete cascade,
  source text not null,
  claims text not null,
  rules_digest text not null,
  refresh_token text,
  received_at bigint not null,
  checked_at bigint not null,
  constraint person_claims_key primary key (user_id, source)
)`,
  "create index person_claims_rules on person_claims (source, rules_digest)",

  `create table granted_rights (
  user_id text not null references auth_users (id) on delete cascade,
  source text not null,
  workspace_id text not null,
  role text,
  group_id text,
  rules text not null,
  constraint granted_rights_key primary key (user_id, source, workspace_id)
)`,
  "create index granted_rights_place on granted_rights (workspace_id)",

  `create table scim_users (
  user_id text not null primary key references auth_users (id) on delete cascade,
  user_name text not null,
  name_key text unique,
  external_id text,
  attributes text not null,
  made integer not null,
  deactivated integer not null,
  removed_at bigint,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
)`,
  "create index scim_users_external on scim_users (external_id)",

  `create table scim_groups (
  id text not null primary key,
  display_name text not null,
  name_key text not null unique,
  external_id text,
  version bigint not null,
  created_at bigint not null,
  updated_at bigint not null
)`,

  `create table scim_members (
  group_id text not null references scim_groups (id) on delete cascade,
  user_id text not null references auth_users (id) on delete cascade,
  constraint scim_members_pk primary key (group_id, user_id)
)`,
  "create index scim_members_user on scim_members (user_id)",
];

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

/** Sign-ins of coding agents, and the settings of agents in a group. */
export const agentTables: readonly string[] = [
  `create table agent_devices (
  device_digest text not null primary key,
  user_digest text not null unique,
  state text not null,
  client text not null,
  ip text not null,
  created_at bigint not null,
  expires_at bigint not null,
  polled_at bigint not null,
  user_id text references auth_users (id) on delete cascade,
  key_id text references api_keys (id) on delete cascade
)`,
  "create index agent_devices_end on agent_devices (expires_at)",
  "create index agent_devices_user on agent_devices (user_id)",
  "create index agent_devices_key on agent_devices (key_id)",

  `create table agent_sessions (
  id text not null primary key,
  user_id text not null references auth_users (id) on delete cascade,
  key_id text not null references api_keys (id) on delete cascade,
  generation bigint not null,
  client text not null,
  ip text not null,
  created_at bigint not null,
  refreshed_at bigint not null,
  expires_at bigint not null
)`,
  "create index agent_sessions_user on agent_sessions (user_id)",
  "create index agent_sessions_key on agent_sessions (key_id)",

  `create table agent_settings_versions (
  group_id text not null references groups (id) on delete cascade,
  version integer not null,
  settings text,
  checksum text,
  at bigint not null,
  actor text not null,
  constraint agent_settings_versions_key primary key (group_id, version)
)`,
];
