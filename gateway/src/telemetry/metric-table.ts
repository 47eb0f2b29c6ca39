import type { GaugeRule } from "./metric-reports.ts";

/** Every metric of the gateway. Names ending in `_total` are counters. docs/operations/monitoring.md lists the labels. */
export const metricHelp = {
  sluice_event_loop_delay_seconds: "Longest delay of the event loop in the last minute.",
  sluice_ledger_lag_entries: "Settled ledger entries in the journal that are not yet in the database.",
  sluice_database_healthy: "1 if the database passed its last checks, else 0.",
  sluice_ledger_healthy: "1 if the journal can be written, else 0.",
  sluice_data_free_bytes: "Free bytes on the disk of the data directory.",
  sluice_data_size_bytes: "Size of the disk of the data directory in bytes.",
  sluice_streams_open: "Open streams.",
  sluice_connections_open: "Open connections of callers.",
  sluice_connections_max: "Maximum number of connections of callers.",
  sluice_connections_refused_total:
    "New connections that were refused because of the limit per address or the total limit, by cause.",
  sluice_connections_closed_total:
    "Connections that the gateway closed, by cause: idle ones to make room, and callers that sent or read too slowly.",
  sluice_reservations_open: "Reservations of limits that are not yet settled or released.",
  sluice_limits_counted: "Limits that are currently counted.",
  sluice_limit_checks_dropped_total: "Limit checks dropped because the counter table was full.",
  sluice_shadow_refusals_total: "Calls that a limit, budget or grant in shadow mode would have refused.",
  sluice_redis_up: "1 if the shared counter (Redis) answers, else 0.",
  sluice_redis_unsent: "Finished calls and costs not yet sent to the shared counter (Redis).",
  sluice_redis_slots_beyond_lease:
    "Concurrency slots of running calls that lost their lease in the shared counter (Redis).",
  sluice_redis_resets_total: "Times the shared counter (Redis) was emptied, restarted or replaced.",
  sluice_redis_round_trip_seconds: "Response time of the shared counter (Redis).",
  sluice_models_blocked: "Models refused because they have no price, for all calls or for calls under a budget.",
  sluice_models_served_unpriced: "Models served at zero cost because they have no price, without the demo.",
  sluice_issuer_rechecks_total: "Rechecks of users with signed-in agents at their single sign-on issuer.",
  sluice_issuer_recheck_failures_total: "Rechecks that failed or got no valid answer.",
  sluice_config_version: "Version of the current configuration.",
  sluice_config_file_valid:
    "1 if the config file is applied; 0 if it was rejected and the previous configuration is used.",
  sluice_config_file_last_good_timestamp_seconds: "When the config file was last read and accepted, in Unix seconds.",
  sluice_explanations_dropped_total: "Request explanations dropped because they could not be stored in time.",
  sluice_captures_dropped_total: "Request captures dropped because they could not be stored in time.",
  sluice_folded_requests_dropped_total: "Folded refusals that were only counted in their shared ledger entry.",
  sluice_files_stored_total: "Files and parts of files that callers uploaded.",
  sluice_files_stored_bytes_total: "Bytes of these files.",
  sluice_file_copies_total: "Files copied to a vendor's account because a call named them.",
  sluice_file_copy_failures_total: "Copies that failed.",
  sluice_websockets_open: "Open WebSockets of /v1/responses.",
  sluice_ledger_export_lag_seconds:
    "Age of the first hour of the ledger not yet copied to its bucket; 0 if no bucket is set.",
  sluice_focus_export_lag_seconds:
    "Age of the first day of FOCUS rows not yet copied to the bucket; 0 if none is set. A day is copied 48 hours after it began.",
  sluice_ledger_export_copies_total: "Hours of the ledger copied to its bucket, including repeated copies.",
  sluice_ledger_export_entries_total: "Ledger entries copied to the bucket.",
  sluice_ledger_export_failures_total: "Failed attempts to copy the ledger to its bucket.",
  sluice_tasks_late_seconds: "Delay between the due time of a video task or background response and its poll.",
  sluice_background_responses_open: "Background responses that have not finished, over all processes.",
  sluice_background_responses_oldest_seconds: "Age of the oldest unfinished background response; 0 if there is none.",
  sluice_batches_open: "Batches that have not ended, over all processes.",
  sluice_batches_oldest_seconds: "Age of the oldest batch that has not ended; 0 if there is none.",
  sluice_batches_stalled_seconds: "Longest time without progress of a batch that has not ended; 0 if there is none.",
  sluice_batch_rows_open: "Rows of batches that have not ended, over all processes.",
  sluice_batch_rows_in_flight: "Rows of batches that this process runs now.",
  sluice_batch_rows_ended_total: "Rows that this process ran or settled, without canceled and expired ones.",
  sluice_batch_rows_failed_total: "Rows of these that failed.",
  sluice_secret_references_failing: "Secret references of providers that could not be read at the last attempt.",
  sluice_secret_age_seconds: "Time since the oldest secret of a reference was read; 0 without references.",
  sluice_tls_certificate_expires_timestamp_seconds:
    "Expiry of the TLS certificate in Unix seconds; absent without TLS.",
  sluice_otlp_spans_sent_total: "Spans accepted by the telemetry collector.",
  sluice_otlp_spans_lost_total: "Spans lost because the telemetry collector failed or the export queue was full.",
  sluice_otlp_logs_sent_total: "Log records accepted by the telemetry collector.",
  sluice_otlp_logs_lost_total: "Log records lost because the telemetry collector failed or the export queue was full.",
  sluice_otlp_contents_lost_total:
    "Calls exported without their messages because there were too many or they could not be read.",
  sluice_otlp_metric_exports_failed_total: "Failed metric exports to the telemetry collector.",
  sluice_agent_telemetry_relayed_total: "Telemetry messages of agents accepted by the telemetry collector.",
  sluice_agent_telemetry_lost_total: "Telemetry messages of agents that were lost, too many or invalid.",
  sluice_price_list_age_seconds: "Age of the price list; 0 if no model of this process uses it.",
  sluice_price_list_changes_waiting: "Price changes from the price list that wait for approval.",
  sluice_bill_difference_ratio:
    "Unexplained differences between a provider's bill and the ledger in the last two weeks, as a share of the bill.",
  sluice_price_list_refresh_failures_total: "Failed updates of the price list.",
  sluice_task_webhooks_delivered_total: "Task webhooks delivered.",
  sluice_task_webhook_failures_total: "Failed delivery attempts of task webhooks; most are retried.",
  sluice_alerts_open: "Open alerts by kind, counted by the process that evaluates alert rules.",
  sluice_alert_messages_total:
    "Attempts to send alert messages, by type of channel and result. A failed one may be retried.",
  sluice_requests_total:
    "Answered requests by route, status and outcome. A stream that broke after its start has status 200 and outcome failed.",
  sluice_request_duration_seconds: "Time from the arrival of a request to the last byte of its answer.",
  sluice_tls_handshakes_failed_total: "Failed TLS handshakes with callers, by the TLS library's reason.",
  sluice_config_reloads_total: "Configuration reloads by result.",
  sluice_build_info: "Always 1; labels show the version, revision and runtime.",
  sluice_breaker_state: "Circuit breaker by deployment: 0 closed, 1 half-open or due to be probed, 2 open.",
  sluice_caller_memory_bytes: "Memory held for callers, by kind.",
  sluice_caller_memory_refusals_total:
    "Requests refused for lack of memory, because a key or workspace used its share or none was left.",
  process_resident_memory_bytes: "Resident memory size in bytes.",
  process_cpu_seconds_total: "User and system CPU time spent in seconds.",
  process_start_time_seconds: "Start time of the process since the Unix epoch in seconds.",
  sluice_overhead_seconds: "The gateway's own time until the first byte.",
  sluice_attempts_total:
    "Attempts by provider, model, outcome, error code and cause. Refused calls have provider none.",
  sluice_tokens_total:
    "Tokens by model and class. Classes do not overlap, except that reasoning is also part of output.",
  sluice_cost_usd_total: "Cost by model, in US dollars.",
  sluice_unpriced_attempts_total: "Attempts that used a model without a price; they cost 0 and no budget counts them.",
  sluice_unpriced_usage_total:
    "Attempts that used a class without a price or with an assumed one, by model and class (or tier, geo, speed).",
  sluice_vendor_cost_mismatches_total:
    "Attempts where the vendor's cost differs from price times usage by more than 1 %, by provider and model.",
  sluice_first_byte_seconds: "Time from the arrival of a request to the first byte of its answer.",
  sluice_workspace_requests_total: "Answered requests by workspace and outcome.",
  sluice_workspace_tokens_total:
    "Tokens by workspace and class. Classes do not overlap, except that reasoning is also part of output.",
  sluice_workspace_cost_usd_total: "Cost by workspace, in US dollars.",
  sluice_workspace_budget_used_ratio:
    "Used share of a workspace's budget in its period, including reservations of running calls; 1 is the whole budget.",
  sluice_budget_policy_used_ratio:
    "Used share of a budget policy in its period, including reservations; of a split policy, the fullest of its recent counters.",
  sluice_budget_policy_exhausted:
    "1 while a budget policy, or one of the recent counters of a split one, refuses calls or serves its fallback model, else 0.",
  sluice_guardrail_checks_total:
    "Checks of guardrails by guardrail, side, verdict and enforced (false: shadow mode, where the verdict has no effect).",
  sluice_guardrail_check_seconds: "Duration of checks by guardrail.",
  sluice_workers: "Workers that are serving calls.",
  sluice_workers_desired: "Configured number of workers.",
  sluice_workers_lost_total: "Workers that ended unexpectedly.",
} as const satisfies Readonly<Record<string, string>>;

export type MetricName = keyof typeof metricHelp;

/** How a gauge is merged over workers, if it is not summed. */
export const gaugeRules: { readonly [Name in MetricName]?: GaugeRule } = {
  sluice_event_loop_delay_seconds: "max",
  sluice_database_healthy: "min",
  sluice_ledger_healthy: "min",
  sluice_data_free_bytes: "min",
  sluice_data_size_bytes: "min",
  sluice_redis_up: "min",
  sluice_models_blocked: "max",
  sluice_models_served_unpriced: "max",
  sluice_config_version: "min",
  sluice_config_file_valid: "min",
  sluice_config_file_last_good_timestamp_seconds: "min",
  sluice_ledger_export_lag_seconds: "max",
  sluice_focus_export_lag_seconds: "max",
  sluice_tasks_late_seconds: "max",
  sluice_background_responses_open: "max",
  sluice_background_responses_oldest_seconds: "max",
  sluice_batches_open: "max",
  sluice_batches_oldest_seconds: "max",
  sluice_batches_stalled_seconds: "max",
  sluice_batch_rows_open: "max",
  sluice_secret_references_failing: "max",
  sluice_secret_age_seconds: "max",
  sluice_tls_certificate_expires_timestamp_seconds: "min",
  sluice_price_list_age_seconds: "max",
  sluice_price_list_changes_waiting: "max",
  sluice_bill_difference_ratio: "max",
  sluice_build_info: "max",
  sluice_breaker_state: "max",
  process_start_time_seconds: "min",
  sluice_workspace_budget_used_ratio: "max",
  sluice_budget_policy_used_ratio: "max",
  sluice_budget_policy_exhausted: "max",
};
