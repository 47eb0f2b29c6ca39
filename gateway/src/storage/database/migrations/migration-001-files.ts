/** Files that callers upload. A file outlives the key that created it. */
export const fileTables: readonly string[] = [
  `create table files (
  id text not null primary key,
  workspace_id text not null,
  key_id text not null,
  person_id text,
  purpose text not null,
  filename text not null,
  media_type text not null,
  size_bytes bigint not null,
  sha256 text,
  status text not null,
  upload_id text,
  created_at bigint not null,
  expires_at bigint,
  due_at bigint,
  tries integer not null
)`,
  "create index files_page on files (workspace_id, status, id)",
  "create index files_due on files (due_at) where due_at is not null",
  "create index files_bytes on files (sha256) where sha256 is not null",
  "create index files_upload on files (upload_id, id) where upload_id is not null",

  `create table file_uploads (
  id text not null primary key,
  workspace_id text not null,
  key_id text not null,
  person_id text,
  purpose text not null,
  filename text not null,
  media_type text not null,
  size_bytes bigint,
  status text not null,
  file_life_ms bigint,
  file_id text,
  created_at bigint not null,
  expires_at bigint not null
)`,
  "create index file_uploads_pending on file_uploads (workspace_id, expires_at) where status = 'pending'",
  "create index file_uploads_end on file_uploads (expires_at)",

  `create table file_copies (
  file_id text not null references files (id) on delete cascade,
  provider text not null,
  upstream_id text not null,
  uri text not null,
  created_at bigint not null,
  expires_at bigint,
  constraint file_copies_pk primary key (file_id, provider)
)`,
];
