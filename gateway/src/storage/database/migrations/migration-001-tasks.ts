/** Video tasks and background responses. A task outlives the key, model, provider and workspace that it names. */
export const taskTables: readonly string[] = [
  `create table tasks (
  id text not null primary key,
  kind text not null,
  workspace_id text not null,
  group_id text not null,
  key_id text not null,
  person_id text,
  actor_id text,
  request_id text not null,
  model text not null,
  served_model text,
  deployment text not null,
  upstream_model text not null,
  attempt_id text not null,
  state text not null,
  params text not null,
  request_digest text not null,
  metadata text not null,
  user_agent text not null,
  tags text not null,
  warnings text,
  provider_id text,
  sealed_account text,
  upstream_id text,
  output text,
  blob_hash text,
  error text,
  usage text,
  raw_usage text,
  price_version text,
  price_table text,
  idempotency_key text,
  callback_url text,
  lease text,
  reserved_nano_usd bigint not null,
  created_at bigint not null,
  updated_at bigint not null,
  deadline_at bigint not null,
  cost_nano_usd bigint,
  submitted_at bigint,
  started_at bigint,
  finished_at bigint,
  deleted_at bigint,
  due_at bigint,
  leased_until bigint,
  unanswered_since bigint,
  final integer not null,
  polls integer not null,
  progress double precision,
  place_at bigint,
  gone_since bigint
)`,
  "create index tasks_page on tasks (workspace_id, created_at, id)",
  "create index tasks_page_key on tasks (workspace_id, key_id, created_at, id)",
  "create index tasks_page_model on tasks (workspace_id, model, created_at, id)",
  "create index tasks_page_state on tasks (workspace_id, state, created_at, id)",
  "create unique index tasks_idempotency_unique on tasks (workspace_id, idempotency_key) where idempotency_key is not null",
  "create index tasks_due on tasks (due_at, leased_until) where due_at is not null",
  "create index tasks_upstream on tasks (upstream_id, provider_id) where upstream_id is not null",
  "create index tasks_blob on tasks (blob_hash) where blob_hash is not null",
  "create index tasks_open on tasks (id) where final = 0",
  "create index tasks_request on tasks (request_id) where final = 0",
  "create index tasks_pending on tasks (kind, created_at, attempt_id) where final = 0",

  `create table task_requests (
  task_id text not null primary key references tasks (id) on delete cascade,
  request text not null
)`,

  // Material of a task that is too large for a row.
  `create table task_materials (
  task_id text not null primary key,
  hash text not null,
  size_bytes bigint not null,
  created_at bigint not null,
  spent integer not null
)`,

  `create table task_events (
  task_id text not null references tasks (id) on delete cascade,
  position integer not null,
  at bigint not null,
  state text not null,
  detail text not null,
  constraint task_events_pk primary key (task_id, position)
)`,

  `create table webhook_deliveries (
  id text not null primary key,
  task_id text not null references tasks (id) on delete cascade,
  workspace_id text not null,
  url text not null,
  body text not null,
  tries integer not null,
  due_at bigint,
  created_at bigint not null,
  last_status integer,
  last_error text,
  delivered_at bigint
)`,
  "create index webhook_deliveries_task on webhook_deliveries (task_id)",
  "create index webhook_deliveries_failed on webhook_deliveries (created_at) where due_at is null and delivered_at is null",
  "create index webhook_deliveries_due on webhook_deliveries (due_at) where due_at is not null",

  // The pace at which vendor accounts are polled, for all processes together.
  `create table account_polls (
  account text not null primary key,
  row_ends_at bigint not null,
  free_at bigint not null,
  given_at bigint not null
)`,
];

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
