import { type Flavour, writeLock } from "../database.ts";

/** Settings, the audit log, notices of changes, and the running processes. */
export function installationTables({ name }: Flavour): readonly string[] {
  return [
    `create table settings (
  name text not null primary key,
  value text not null,
  managed_by text not null
)`,

    `create table audit_log (
  seq sequence,
  at bigint not null,
  actor text not null,
  ip text,
  workspace_id text,
  action text not null,
  object text not null,
  before text,
  after text
)`,
    "create index audit_log_workspace on audit_log (workspace_id, seq)",

    `create table changes (
  seq sequence,
  at bigint not null,
  kind text not null,
  digest text
)`,
    ...(name === "postgres" ? postgresChanges : []),

    // Which process runs each task of the whole installation, and the list of running processes.
    `create table leases (
  name text not null primary key,
  owner text,
  fence bigint not null,
  taken_at bigint not null,
  until bigint not null
)`,
    `create table instances (
  id text not null primary key,
  version text not null,
  host text not null,
  started_at bigint not null,
  seen_at bigint not null,
  journal_lag bigint
)`,
  ];
}

const postgresChanges = [
  // A number is assigned at insert, not at commit: of two transactions the later number could be committed first, and a reader that
  // remembers the last number would miss the earlier one. So transactions insert one after the other.
  `create function changes_in_turn() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(${writeLock});
  return null;
end $$`,
  "create trigger changes_in_turn before insert on changes for each statement execute function changes_in_turn()",

  // Notifies every listening process once the change is committed.
  `create function changes_told() returns trigger language plpgsql as $$
begin
  perform pg_notify('sluice', '* change ');
  return null;
end $$`,
  "create trigger changes_told after insert on changes for each statement execute function changes_told()",
];

/** Workspaces, their groups and their API keys. */
export const tenantTables: readonly string[] = [
  `create table workspaces (
  id text not null primary key,
  slug text not null unique,
  name text not null,
  models text not null,
  enforce_models integer not null default 1,
  pass_through text not null,
  limits text not null,
  budget text,
  enabled integer not null,
  managed_by text not null,
  created_at bigint not null
)`,

  `create table groups (
  id text not null primary key,
  workspace_id text not null references workspaces (id),
  name text not null,
  models text not null,
  enforce_models integer not null default 1,
  pass_through text not null,
  limits text not null,
  budget text,
  managed_by text not null,
  created_at bigint not null,
  constraint groups_name_unique unique (workspace_id, name)
)`,

  `create table api_keys (
  id text not null primary key,
  workspace_id text not null references workspaces (id),
  group_id text not null references groups (id),
  person_id text,
  owner_id text,
  service integer not null,
  name text not null,
  digest text unique,
  old_digest text,
  old_until bigint,
  prefix text not null,
  last_four text not null,
  models text,
  enforce_models integer not null default 1,
  pass_through text not null,
  allowed_ips text,
  enforce_allowed_ips integer not null default 1,
  limits text not null,
  budget text,
  tags text not null,
  capture text not null,
  set_by_admins text not null,
  enabled integer not null,
  revoked_at bigint,
  expires_at bigint,
  managed_by text not null,
  created_at bigint not null,
  created_by text,
  constraint api_keys_name_unique unique (workspace_id, name)
)`,
  "create index api_keys_group on api_keys (group_id)",
  `create index api_keys_by_name on api_keys
  (name, id, workspace_id, prefix, last_four, group_id, enabled, revoked_at, expires_at)`,
  `create index api_keys_in_workspace on api_keys
  (workspace_id, name, id, prefix, last_four, group_id, enabled, revoked_at, expires_at)`,
  "create index api_keys_old_digest on api_keys (old_digest) where old_digest is not null",
  "create index api_keys_in_use on api_keys (workspace_id, group_id) where revoked_at is null",
  "create index api_keys_maker on api_keys (created_by, name, id) where created_by is not null",
  "create index api_keys_person on api_keys (person_id)",
  "create index api_keys_owner on api_keys (owner_id)",
];

/** Objects that imports from other gateways made, for a second run and for undoing it. */
export const importTables: readonly string[] = [
  `create table imports (
  id text not null primary key,
  product text not null,
  at bigint not null,
  actor text not null,
  objects text not null,
  undone_at bigint
)`,
];

/** Providers, models, the deployments that connect them, prices, guardrails, and budget policies. */
export const configTables: readonly string[] = [
  `create table providers (
  id text not null primary key,
  kind text not null,
  base_url text not null,
  sealed_secret text,
  allow_private_network integer not null,
  timeouts text not null,
  disconnect text,
  sealed_settings text,
  sealed_billing text,
  enabled integer not null,
  managed_by text not null,
  created_at bigint not null
)`,

  // Prices outlive their model, because ledger entries refer to them.
  `create table prices (
  id text not null primary key,
  model text not null,
  price_table text not null,
  effective_from bigint not null,
  origin text
)`,
  "create index prices_model on prices (model, effective_from)",

  `create table models (
  name text not null primary key,
  type text not null,
  max_output_tokens bigint,
  context_window bigint,
  owned_by text not null,
  fallbacks text not null,
  price_version text references prices (id),
  next_price_version text,
  unpriced text,
  managed_by text not null,
  created_at bigint not null
)`,

  `create table deployments (
  id text not null primary key,
  model text not null references models (name),
  provider text not null references providers (id),
  upstream_model text not null,
  priority integer not null,
  weight integer not null,
  enabled integer not null,
  capabilities text,
  constraint deployments_target_unique unique (model, provider, upstream_model)
)`,
  "create index deployments_provider on deployments (provider)",

  `create table guardrails (
  id text not null primary key,
  workspace_id text references workspaces (id) on delete cascade,
  name text not null,
  kind text not null,
  definition text not null,
  sealed_secret text,
  enabled integer not null,
  managed_by text not null,
  created_at bigint not null
)`,
  "create unique index guardrails_name on guardrails (coalesce(workspace_id, ''), name)",

  `create table budget_policies (
  id text not null primary key,
  workspace_id text references workspaces (id) on delete cascade,
  name text not null,
  definition text not null,
  enabled integer not null,
  managed_by text not null,
  created_at bigint not null
)`,
  "create unique index budget_policies_name on budget_policies (coalesce(workspace_id, ''), name)",
];
