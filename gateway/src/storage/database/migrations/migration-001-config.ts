/** Providers, models, the deployments that connect them, and prices. */
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
];
