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

  `create table agent_settings (
  group_id text not null primary key references groups (id) on delete cascade,
  settings text not null,
  checksum text not null,
  updated_at bigint not null
)`,

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
