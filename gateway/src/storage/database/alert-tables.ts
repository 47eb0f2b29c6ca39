import type { Generated } from "kysely";

/** Alert rules and channels, the alerts that rules have opened, their messages, and scheduled reports. `workspace_id` null: the installation. */
export interface AlertTables {
  alert_channels: {
    id: string;
    workspace_id: string | null;
    name: string;
    kind: string;
    /** Sealed, because the URL of a chat webhook and a routing key are secrets. */
    sealed_target: string;
    language: string;
    enabled: number;
    created_at: number;
  };
  alert_rules: {
    id: string;
    workspace_id: string | null;
    /** null: shown by its kind, so that the console can translate it. */
    name: string | null;
    kind: string;
    /** JSON. */
    condition: string;
    /** JSON: ids of channels. */
    channels: string;
    /** JSON. */
    quiet_hours: string | null;
    repeat_hours: number | null;
    send_resolved: number;
    enabled: number;
    muted_until: number | null;
    created_at: number;
  };
  alerts: {
    id: string;
    rule_id: string;
    rule_name: string | null;
    /** The workspace that the subject belongs to. */
    workspace_id: string | null;
    /** The only user without the role admin who may see it; null: every viewer of the workspace. */
    person_id: string | null;
    kind: string;
    /** A rule has at most one open alert per subject. */
    subject: string;
    severity: string;
    /** Number of thresholds reached. For kinds that resolve after a calm time: the most that were reached. */
    level: number;
    /** JSON. */
    facts: string;
    opened_at: number;
    changed_at: number;
    last_seen_at: number;
    /** When messages were last created; null: none yet, because the rule is muted. */
    notified_at: number | null;
    /** 1: the rule sends a message when it resolves. Used after the rule was deleted. */
    send_resolved: Generated<number>;
    resolved_at: number | null;
  };
  /** `due_at` null: sent, or given up. */
  alert_deliveries: {
    id: string;
    /** A message is about an alert or about a run of a scheduled report. */
    alert_id: string | null;
    run_id: Generated<string | null>;
    channel_id: string;
    channel_name: string;
    channel_kind: string;
    event: string;
    /** JSON: the alert's facts at the time of the event. */
    facts: string;
    severity: string;
    at: number;
    /** 1: waits for the end of quiet hours. */
    quiet: Generated<number>;
    tries: Generated<number>;
    due_at: number | null;
    sent_at: Generated<number | null>;
    problem: Generated<string | null>;
  };
  /** `workspace_id` null: all workspaces. */
  scheduled_reports: {
    id: string;
    workspace_id: string | null;
    /** Not a foreign key: the report of a deleted user stays, and shows why it stopped. */
    owner_id: string;
    /** The owner's role when they last changed it; it never gets more rights than that. */
    held: string;
    name: string;
    /** Query parameters of the usage page. */
    state: string;
    every: string;
    day: number | null;
    hour: number;
    time_zone: string;
    period: string;
    /** JSON: ids of channels. */
    channels: string;
    attach_csv: number;
    enabled: number;
    /** Why it stopped. */
    problem: string | null;
    /** The next time of the schedule; null: not enabled. */
    next_at: number | null;
    /** When to make the report: `next_at`, the end of a lease, or the next attempt. */
    due_at: number | null;
    tries: number;
    created_at: number;
  };
  report_runs: {
    id: string;
    report_id: string;
    at: number;
    due_at: number;
    manual: number;
    /** JSON; null: nothing was sent. */
    content: string | null;
    /** The attachment, until every message was sent or given up. */
    csv: string | null;
    problem: string | null;
  };
  alert_reads: {
    user_id: string;
    alert_id: string;
    read_at: number;
  };
}
