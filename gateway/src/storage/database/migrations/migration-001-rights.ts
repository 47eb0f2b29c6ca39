/** What single sign-on and SCIM say about people, and the rights that rules give for it. */
export const rightsTables: readonly string[] = [
  `create table person_claims (
  user_id text not null references auth_users (id) on delete cascade,
  source text not null,
  claims text not null,
  rules_digest text not null,
  refresh_token text,
  said_at bigint not null,
  asked_at bigint not null,
  constraint person_claims_key primary key (user_id, source)
)`,
  "create index person_claims_rules on person_claims (source, rules_digest)",

  `create table given_rights (
  user_id text not null references auth_users (id) on delete cascade,
  source text not null,
  workspace_id text not null,
  role text,
  group_id text,
  rules text not null,
  constraint given_rights_key primary key (user_id, source, workspace_id)
)`,
  "create index given_rights_place on given_rights (workspace_id)",

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
