import type { GaugeRule } from "./metric-reports.ts";

/** Every metric of the gateway, with what it counts: names that end in `_total` only grow. docs/operations.md has their labels. */
export const metricHelp = {
  sluice_event_loop_delay_seconds: "Longest delay of the event loop in the last minute.",
  sluice_ledger_lag_entries: "Settled entries that are in the journal and not yet in the database.",
  sluice_database_healthy: "1 while nothing is known to be wrong with the database's file, else 0.",
  sluice_ledger_healthy: "1 while the journal can be written, else 0.",
  sluice_data_free_bytes: "Free bytes on the disk of the data directory.",
  sluice_data_size_bytes: "Bytes of that disk, free or not.",
  sluice_streams_open: "Streams under way.",
  sluice_connections_open: "Connections of callers.",
  sluice_connections_max: "Connections of callers that there may be.",
  sluice_connections_refused_total:
    "New connections that were closed: an address had its share, or there were as many as there may be in all.",
  sluice_connections_closed_total:
    "Connections that the gateway closed: idle ones to make room, and those of callers that sent or read too slowly.",
  sluice_reservations_open: "Reservations of limits that are not yet settled.",
  sluice_limits_counted: "Limits in use that are counted now.",
  sluice_limits_turned_away_total: "Claims on limits that found no room to be counted.",
  sluice_redis_up: "1 while the shared counter of limits answers, else 0.",
  sluice_redis_untold: "Endings and costs that the shared counter of limits has not been told yet.",
  sluice_redis_places_beyond_lease:
    "Places of concurrency that running calls keep after the lease of their process in the shared counter has ended.",
  sluice_redis_epochs_total: "Times the shared counter of limits was emptied, restarted or replaced.",
  sluice_redis_round_trip_seconds: "Time until the shared counter of limits answered.",
  sluice_models_blocked: "Models that have no price and are refused for it, to all or where a budget applies.",
  sluice_models_served_unpriced: "Models that have no price and are served at zero; the demo is not counted.",
  sluice_issuer_rechecks_total: "Times an issuer was asked again about somebody whose agents are signed in.",
  sluice_issuer_rechecks_silent_total: "Of these, how often it said nothing of the person.",
  sluice_config_version: "Version of the configuration in force.",
  sluice_config_file_valid: "1: the config file is in force; 0: it was refused and the former configuration stays.",
  sluice_config_file_last_good_timestamp_seconds: "When the config file was last read and not refused.",
  sluice_explanations_dropped_total: "Explanations of requests that could not be kept in time.",
  sluice_captures_dropped_total: "Captures of requests that could not be kept in time.",
  sluice_websockets_open: "WebSockets of /v1/responses that are open.",
  sluice_ledger_export_lag_seconds:
    "Since the beginning of the first hour of the ledger that was not copied to its bucket; 0 where none is named.",
  sluice_ledger_export_copies_total:
    "Hours of the ledger that were copied to a bucket, those that were copied again among them.",
  sluice_ledger_export_entries_total: "Entries in these copies.",
  sluice_ledger_export_failures_total: "Looks at which a copy of the ledger failed.",
  sluice_tasks_late_seconds: "Delay between the time at which a video task or background response is due and its poll.",
  sluice_background_responses_open: "Background responses that have not ended, of all processes.",
  sluice_background_responses_oldest_seconds: "Age of the oldest of them; 0 where there is none.",
  sluice_tls_certificate_expires_timestamp_seconds:
    "When the certificate ends that the ports show, in Unix seconds; only where they speak TLS.",
  sluice_otlp_spans_sent_total: "Spans that the telemetry collector took.",
  sluice_otlp_spans_lost_total:
    "Spans that the telemetry collector did not take, or that came faster than it takes them.",
  sluice_otlp_logs_sent_total: "Log records that the telemetry collector took.",
  sluice_otlp_logs_lost_total: "Log records that it did not take, or that came faster than it takes them.",
  sluice_otlp_contents_lost_total:
    "Calls whose messages were to be in their span or event and are not: too many at once, or nobody can read them.",
  sluice_otlp_metric_exports_failed_total: "Exports of metrics that the telemetry collector did not take.",
  sluice_agent_telemetry_relayed_total: "Messages of agents' telemetry that the telemetry collector took.",
  sluice_agent_telemetry_lost_total: "Such messages that it did not take, that were too many, or that nobody can read.",
  sluice_catalogue_age_seconds: "Age of the price catalogue's data; 0 while no model of this process needs it.",
  sluice_catalogue_prices_waiting: "Prices of the catalogue that wait for somebody to take them.",
  sluice_catalogue_refresh_failures_total: "Times newer prices could not be had.",
  sluice_task_webhooks_delivered_total: "Messages about tasks that their caller's host took.",
  sluice_task_webhook_failures_total: "Tries of such messages that failed; most are tried again.",
  sluice_requests_total:
    "Answered requests by route, status and outcome; a stream that broke after its start has status 200 and outcome failed.",
  sluice_request_duration_seconds: "Time from the request's arrival to the last byte of its answer.",
  sluice_tls_handshakes_failed_total:
    "Callers with whom TLS was not agreed upon, by what the TLS library calls the reason.",
  sluice_config_reloads_total: "Readings of the configuration by result.",
  sluice_build_info: "1; the labels say what runs.",
  sluice_breaker_state: "Breaker by deployment: 0 closed, 1 half-open (or its time is over and no call came), 2 open.",
  sluice_caller_memory_bytes: "Memory held for callers, by what for.",
  sluice_caller_memory_refusals_total:
    "Refusals for want of memory: a key or a workspace held its share, or nothing was left for anybody.",
  process_resident_memory_bytes: "Resident memory size in bytes.",
  process_cpu_seconds_total: "User and system CPU time spent in seconds.",
  process_start_time_seconds: "Start time of the process since the Unix epoch in seconds.",
  sluice_overhead_seconds: "The gateway's own time up to the first byte.",
  sluice_attempts_total:
    "Attempts by provider, model, outcome, error code and cause; refused calls have provider none.",
  sluice_tokens_total: "Tokens by model and class; classes do not overlap, but reasoning is also inside output.",
  sluice_cost_usd_total: "Cost by model, in US dollars.",
  sluice_unpriced_attempts_total:
    "Attempts of models without a price that used something: they cost 0, and no budget counts them.",
  sluice_unpriced_usage_total:
    "Attempts that used a class without a price, or were served at an assumed one, by model and class (or tier, geo, speed).",
  sluice_vendor_cost_differs_total:
    "Attempts whose cost by the vendor differs from price times usage by more than 1 %, by provider and model.",
  sluice_first_byte_seconds: "Time from the request's arrival to the first byte of its answer.",
  sluice_workspace_requests_total: "Answered requests by workspace and outcome.",
  sluice_workspace_tokens_total:
    "Tokens by workspace and class; classes do not overlap, but reasoning is also inside output.",
  sluice_workspace_cost_usd_total: "Cost by workspace, in US dollars.",
  sluice_workspace_budget_used_ratio:
    "Used share of a workspace's budget in its period, with what is held for calls under way; 1 is all of it.",
  sluice_workers: "Workers that take calls.",
  sluice_workers_wanted: "Workers that there should be.",
  sluice_workers_lost_total: "Workers that ended without being told to.",
} as const satisfies Readonly<Record<string, string>>;

export type MetricName = keyof typeof metricHelp;

/** How gauges of several workers become one, where that is not their sum: what holds for all, or the worst of them. */
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
  sluice_tasks_late_seconds: "max",
  sluice_background_responses_open: "max",
  sluice_background_responses_oldest_seconds: "max",
  sluice_tls_certificate_expires_timestamp_seconds: "min",
  sluice_catalogue_age_seconds: "max",
  sluice_catalogue_prices_waiting: "max",
  sluice_build_info: "max",
  sluice_breaker_state: "max",
  process_start_time_seconds: "min",
  sluice_workspace_budget_used_ratio: "max",
};
