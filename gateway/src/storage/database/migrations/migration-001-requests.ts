/** Why a request went as it did, and what was captured of it. */
export const requestTables: readonly string[] = [
  `create table request_explanations (
  request_id text not null primary key,
  workspace_id text not null,
  at bigint not null,
  explanation text not null
)`,
  "create index request_explanations_at on request_explanations (at)",

  `create table request_captures (
  request_id text not null primary key,
  workspace_id text not null,
  key_id text not null,
  at bigint not null,
  expires_at bigint not null,
  request_headers text not null,
  response_headers text not null,
  request_body text,
  request_bytes bigint,
  response_body text,
  response_bytes bigint,
  truncated integer not null
)`,
  "create index request_captures_expiry on request_captures (expires_at)",
  "create index request_captures_at on request_captures (at)",
];
