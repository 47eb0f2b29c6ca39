/** Members, invitations, admin tokens, and what limits and groups people. A row goes with its user and its workspace. */
export const peopleTables: readonly string[] = [
  `create table members (
  workspace_id text not null references workspaces (id) on delete cascade,
  user_id text not null references auth_users (id) on delete cascade,
  role text not null,
  since bigint not null,
  constraint members_pk primary key (workspace_id, user_id)
)`,
  "create index members_user on members (user_id)",

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
