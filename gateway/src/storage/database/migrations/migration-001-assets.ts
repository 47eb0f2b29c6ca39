/** Assets that video tasks may refer to. */
export const assetTables: readonly string[] = [
  `create table asset_groups (
  id text not null primary key,
  workspace_id text not null,
  platform text not null,
  name text not null,
  description text not null,
  project_name text not null,
  provider_id text,
  upstream_id text,
  created_at bigint not null,
  updated_at bigint not null
)`,
  "create index asset_groups_page on asset_groups (workspace_id, created_at, id)",

  `create table assets (
  id text not null primary key,
  workspace_id text not null,
  group_id text not null references asset_groups (id) on delete cascade,
  platform text not null,
  name text not null,
  type text not null,
  source_url text not null,
  status text not null,
  error text,
  provider_id text,
  upstream_id text,
  blob_hash text,
  size_bytes bigint,
  content_type text,
  created_at bigint not null,
  updated_at bigint not null,
  due_at bigint
)`,
  "create index assets_page on assets (workspace_id, created_at, id)",
  "create index assets_page_group on assets (group_id, created_at, id)",
  "create index assets_due on assets (due_at) where due_at is not null",
  "create index assets_blob on assets (blob_hash) where blob_hash is not null",

  `create table asset_bindings (
  asset_id text not null references assets (id) on delete cascade,
  provider_id text not null,
  upstream_group_id text not null,
  upstream_id text not null,
  status text not null,
  updated_at bigint not null,
  constraint asset_bindings_pk primary key (asset_id, provider_id)
)`,
];
