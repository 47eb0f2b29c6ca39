/** Workspaces, their groups and their API keys. */
export const tenantTables: readonly string[] = [
  `create table workspaces (
  id text not null primary key,
  slug text not null unique,
  name text not null,
  models text not null,
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
  pass_through text not null,
  allowed_ips text,
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
