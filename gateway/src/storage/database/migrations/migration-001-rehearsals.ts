/** Jobs that replay past calls against a change. `process` is the id of the process that runs it. */
export const rehearsalTables = [
  `create table rehearsals (
  id text not null primary key,
  owner_id text not null references auth_users (id) on delete cascade,
  workspace_id text,
  change text not null,
  from_at bigint not null,
  to_at bigint not null,
  state text not null,
  process text not null,
  entries bigint not null default 0,
  progress double precision not null default 0,
  problem text,
  result text,
  created_at bigint not null,
  updated_at bigint not null,
  ended_at bigint,
  expires_at bigint not null
)`,
  "create index rehearsals_owner on rehearsals (owner_id, id)",
  "create index rehearsals_expiring on rehearsals (expires_at)",
];
