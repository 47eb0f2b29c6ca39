import type { Flavour } from "../database.ts";
import { peopleLock } from "../people-tables.ts";
import { turnLock } from "../take-turn.ts";

/** Settings, the audit log, notices of changes, the running processes, and notices about budgets. */
export function installationTables({ name }: Flavour): readonly string[] {
  return [
    `create table settings (
  name text not null primary key,
  value text not null,
  managed_by text not null
)`,
    `insert into settings (name, value, managed_by) values ('${peopleLock}', '', 'system')`,

    `create table audit_log (
  seq sequence,
  at bigint not null,
  actor text not null,
  ip text,
  workspace_id text,
  action text not null,
  object text not null,
  before text,
  after text
)`,
    "create index audit_log_workspace on audit_log (workspace_id, seq)",

    `create table changes (
  seq sequence,
  at bigint not null,
  kind text not null,
  digest text
)`,
    ...(name === "postgres" ? postgresChanges : []),

    // Which process does what for the whole installation, and which processes there are.
    `create table leases (
  name text not null primary key,
  owner text,
  fence bigint not null,
  taken_at bigint not null,
  until bigint not null
)`,
    `create table instances (
  id text not null primary key,
  version text not null,
  host text not null,
  started_at bigint not null,
  seen_at bigint not null,
  journal_lag bigint
)`,

    `create table notices (
  id text not null primary key,
  workspace_id text not null,
  name text not null,
  percent text not null,
  scope text,
  scope_id text,
  sealed_channel text not null,
  enabled integer not null,
  created_at bigint not null
)`,
    "create index notices_workspace on notices (workspace_id)",
    // One row for each share of each budget in each of its periods: a notice is sent once.
    `create table notices_told (
  notice_id text not null references notices (id) on delete cascade,
  budget text not null,
  period_start bigint not null,
  percent integer not null,
  label text not null,
  used_usd double precision not null,
  limit_usd double precision not null,
  at bigint not null,
  tries integer not null,
  due_at bigint,
  sent_at bigint,
  problem text,
  constraint notices_told_pk primary key (notice_id, budget, period_start, percent)
)`,
    "create index notices_told_due on notices_told (due_at)",
  ];
}

const postgresChanges = [
  // A number is assigned at insert, not at commit: of two transactions the later number could be committed first, and a reader that
  // goes by the last number would miss the earlier one. So transactions insert one after the other.
  `create function changes_in_turn() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(${turnLock});
  return null;
end $$`,
  "create trigger changes_in_turn before insert on changes for each statement execute function changes_in_turn()",

  // Notifies every listening process once the change is committed.
  `create function changes_told() returns trigger language plpgsql as $$
begin
  perform pg_notify('sluice', '* change ');
  return null;
end $$`,
  "create trigger changes_told after insert on changes for each statement execute function changes_told()",
];
