/** Alert rules and channels, the alerts that rules have opened, their messages, and scheduled reports. */
export const alertTables: readonly string[] = [
  `create table alert_channels (
  id text not null primary key,
  workspace_id text references workspaces (id) on delete cascade,
  name text not null,
  kind text not null,
  sealed_target text not null,
  language text not null,
  enabled integer not null,
  created_at bigint not null
)`,
  "create index alert_channels_workspace on alert_channels (workspace_id)",

  `create table alert_rules (
  id text not null primary key,
  workspace_id text references workspaces (id) on delete cascade,
  name text,
  kind text not null,
  condition text not null,
  channels text not null,
  quiet_hours text,
  repeat_hours bigint,
  send_resolved integer not null,
  enabled integer not null,
  muted_until bigint,
  created_at bigint not null
)`,
  "create index alert_rules_workspace on alert_rules (workspace_id)",

  // Without a reference to its rule or workspace, because the history outlives both.
  `create table alerts (
  id text not null primary key,
  rule_id text not null,
  rule_name text,
  workspace_id text,
  person_id text,
  kind text not null,
  subject text not null,
  severity text not null,
  level integer not null,
  facts text not null,
  opened_at bigint not null,
  changed_at bigint not null,
  last_seen_at bigint not null,
  notified_at bigint,
  send_resolved integer not null default 1,
  resolved_at bigint
)`,
  // Several processes that see the same condition open one alert.
  "create unique index alerts_open on alerts (rule_id, subject) where resolved_at is null",
  "create index alerts_workspace on alerts (workspace_id, id)",
  "create index alerts_changed on alerts (changed_at)",

  `create table scheduled_reports (
  id text not null primary key,
  workspace_id text references workspaces (id) on delete cascade,
  owner_id text not null,
  held text not null,
  name text not null,
  state text not null,
  every text not null,
  day bigint,
  hour bigint not null,
  time_zone text not null,
  period text not null,
  channels text not null,
  attach_csv integer not null,
  enabled integer not null,
  problem text,
  next_at bigint,
  due_at bigint,
  tries bigint not null,
  created_at bigint not null
)`,
  "create index scheduled_reports_workspace on scheduled_reports (workspace_id)",
  "create index scheduled_reports_due on scheduled_reports (due_at) where due_at is not null",

  `create table report_runs (
  id text not null primary key,
  report_id text not null references scheduled_reports (id) on delete cascade,
  at bigint not null,
  due_at bigint not null,
  manual integer not null,
  content text,
  csv text,
  problem text
)`,
  "create index report_runs_report on report_runs (report_id, id)",
  // Each time of the schedule has one run, also with several processes.
  "create unique index report_runs_due on report_runs (report_id, due_at) where manual = 0",
  "create index report_runs_csv on report_runs (id) where csv is not null",

  `create table alert_deliveries (
  id text not null primary key,
  alert_id text references alerts (id) on delete cascade,
  run_id text references report_runs (id) on delete cascade,
  channel_id text not null,
  channel_name text not null,
  channel_kind text not null,
  event text not null,
  facts text not null,
  severity text not null,
  at bigint not null,
  quiet integer not null default 0,
  tries integer not null default 0,
  due_at bigint,
  sent_at bigint,
  problem text
)`,
  "create index alert_deliveries_alert on alert_deliveries (alert_id, id)",
  "create index alert_deliveries_run on alert_deliveries (run_id, id)",
  "create index alert_deliveries_channel on alert_deliveries (channel_id, id)",
  "create index alert_deliveries_due on alert_deliveries (due_at) where due_at is not null",

  `create table alert_reads (
  user_id text not null references auth_users (id) on delete cascade,
  alert_id text not null references alerts (id) on delete cascade,
  read_at bigint not null,
  constraint alert_reads_pk primary key (user_id, alert_id)
)`,
  "create index alert_reads_alert on alert_reads (alert_id)",

  // The rules of a new installation: for the inbox only, until an administrator adds channels.
  ...[
    rule("budget", { percent: [80, 100], scope: null, scope_id: null }, { resolved: false }),
    rule("error_rate", { percent: 25, minutes: 15, min_requests: 20 }),
    rule("provider_down", { minutes: 5, min_attempts: 5 }),
    rule("token_expiry", { days: [7, 1] }, { resolved: false }),
    rule("key_request", {}, { resolved: false }),
    rule("delivery_failure", { failures: 3 }),
    rule("guardrail_failure", { failures: 1, minutes: 15 }),
    rule("shadow", {}, { resolved: false }),
  ],
];

function rule(kind: string, condition: object, { resolved = true } = {}): string {
  const json = JSON.stringify({ kind, ...condition });
  const columns = "id, workspace_id, name, kind, condition, channels, send_resolved, enabled, created_at";
  const values = `'rule_default_${kind}', null, null, '${kind}', '${json}', '[]', ${resolved ? 1 : 0}, 1, 0`;
  return `insert into alert_rules (${columns}) values (${values})`;
}
