/**
 * Codes of the admin API's English sentences, with the parameters of each sentence, so that the console can translate them.
 * Responses contain the sentence as well, for programs that do not have a text for a code.
 */
export const remarkCodes = {
  /** Reasons for a deployment's place in a plan. A state of the circuit breaker is followed by its cause. */
  place: {
    fallback_model: [],
    account_bound: [],
    drawn_by_weight: ["count"],
    affinity: ["count"],
    full: ["in_flight"],
    half_open: [],
    recovering: ["percent"],
    cooling: ["seconds"],
    breaker_open: ["seconds"],
    failures_in_a_row: ["count"],
    failure_share: ["failures", "calls", "seconds"],
    probe_failed: [],
    refused_a_call: [],
    upstream_asked_to_wait: [],
    deployment_disabled: [],
    provider_disabled: [],
    cannot_serve: [],
    other_account: [],
    no_weight: [],
    duplicate: [],
  },
  /** Attempts of a call in order, with reasons. `deployment`: an id. */
  step: {
    places_not_shown: ["count"],
    try_first: ["attempt", "deployment"],
    try_first_unready: ["attempt", "deployment"],
    try_next: ["attempt", "deployment"],
    try_larger: ["attempt", "deployment"],
    try_same: ["attempt", "deployment", "wait_ms"],
    try_same_asked: ["attempt", "deployment", "wait_ms"],
    try_unready: ["attempt", "deployment"],
    failed: ["deployment", "code", "retry"],
    stop_nothing_left: [],
    stop_all_full: [],
    stop_maybe_charged: [],
    stop_not_retryable: [],
    stop_enough_attempts: [],
    stop_too_many_repeats: [],
  },
  /** Steps of a provider test. `type`: the type of a model. */
  test: {
    list_models: [],
    ask_model: ["type", "model"],
    look_for_video_task: [],
    find_in_list: ["model"],
    choose_model: [],
  },
  /** Problems that a provider test found. */
  testProblem: {
    credential: [],
    identity: ["reason"],
    credit: [],
    url: [],
    private_address: [],
    forbidden_address: [],
    name: [],
    unreachable: [],
    certificate: [],
    proxy: [],
    timeout: [],
    truncated: [],
    not_sendable: [],
    rate_limited: [],
    overloaded: [],
    answered: ["status"],
    not_json: [],
    no_model_list: [],
    model_not_listed: ["model"],
    nothing_to_ask: [],
    not_made: [],
  },
  /** How to fix them. */
  testAdvice: {
    check_key: [],
    check_identity: [],
    no_key_needed: [],
    write_url: [],
    allow_private_network: [],
    use_other_address: [],
    check_name: [],
    check_reachability: [],
    check_certificate: [],
    check_proxy: [],
    top_up: [],
    try_later_or_allow_time: [],
    check_connection: [],
    enter_key_again: [],
    use_final_address: [],
    use_address: ["location"],
    check_permissions: [],
    name_models_yourself: [],
    no_such_model: ["model"],
    wait_or_raise_quota: [],
    wait_for_provider: [],
    check_model_type: [],
    check_base_url_path: [],
    check_base_url: [],
    check_model_name: [],
    name_a_model: [],
  },
  /** Reasons why a model was not imported. `type`: the type of the model that already has the name. */
  importRefusal: {
    managed_by_file: [],
    other_type: ["type"],
    already_there: [],
    too_many_deployments: ["count"],
  },
  /** Limitations of a price simulation. `class`: the field of a price. */
  simulation: {
    nothing_used: [],
    class_without_price: ["class", "count"],
    variants_not_told_apart: [],
    long_context_not_told_apart: [],
    rounded_at_once: [],
  },
  /** Notes in a video task's history. `provider`: an id; `model`: the upstream's name. */
  taskEvent: {
    sent: ["provider", "model"],
    accepted: [],
    found_in_list: [],
  },
  /** Reasons why a webhook was not delivered. */
  callback: {
    answered: ["status"],
    unreachable: [],
    timeout: [],
  },
  /** Results of a rights rule. `rule`: number of the earlier rule; `found`: value of the claim, truncated. */
  rightsRule: {
    matches: ["found"],
    decided_before: ["rule"],
    no_claim: ["claim"],
    left_out: ["claim"],
    not_plain: ["claim"],
    is_list: ["claim"],
    other_value: ["claim", "found"],
    not_in_list: ["claim", "found"],
    no_workspace: ["workspace"],
    no_group: ["group", "workspace"],
  },
  /** Reasons why an alert was not sent. */
  alert: {
    answered: ["status"],
    unreachable: [],
    timeout: [],
    no_mail_server: [],
    too_many_mails: [],
    channel_off: [],
    resolved_while_quiet: [],
    report_owner_left: [],
    report_right_lost: [],
    report_unreadable: [],
    report_no_channel: [],
    report_failed: [],
  },
  /** What needs attention. Amounts are USD; `hours`: until the expiry. */
  attention: {
    budget_exhausted: ["name", "used", "limit", "period"],
    budget_refusing: ["name", "used", "limit", "period"],
    budget_falls_back: ["name", "used", "limit", "period", "model"],
    budget_fallback_missing: ["name", "model"],
    budget_near: ["name", "percent", "used", "limit", "period"],
    error_spike: ["name", "failed", "requests", "percent", "usual_percent"],
    error_spike_others: ["failed", "requests", "percent", "usual_percent"],
    provider_down: ["name"],
    provider_unhealthy: ["name"],
    provider_errors: ["name", "failed", "attempts"],
    key_expiring: ["name", "hours"],
    key_requests_pending: ["name", "count"],
    key_request_approved: ["name"],
    admin_token_expiring: ["name", "hours"],
    secret_unreadable: ["name"],
    certificate_expired: ["name"],
    certificate_expiring: ["name", "hours"],
    model_unpriced: ["name", "requests"],
    models_unpriced_unused: ["count"],
    price_list_old: ["days"],
    alert_failed: ["name"],
    webhooks_failed: ["count"],
    alert_open: ["text"],
    ledger_unwritten: ["entries"],
    ledger_behind: ["entries"],
    gateway_problem: ["problem"],
    process_silent: ["name"],
    check_failed: ["check"],
  },
} as const;

export type RemarkKind = keyof typeof remarkCodes;
type Codes<Kind extends RemarkKind> = (typeof remarkCodes)[Kind];
type ParamsOf<Names> = Names extends readonly string[] ? { readonly [Name in Names[number]]: string | number } : never;

export type RemarkCode<Kind extends RemarkKind> = keyof Codes<Kind> & string;

/** A remark with every parameter of its code. */
export type Remark<Kind extends RemarkKind> = {
  [Code in RemarkCode<Kind>]: { code: Code; params: ParamsOf<Codes<Kind>[Code]> };
}[RemarkCode<Kind>];

/** Actions in the audit log. */
export const auditActions = [
  "create",
  "update",
  "remove",
  "set-price",
  "rotate",
  "revoke",
  "cancel",
  "approve",
  "decline",
  "withdraw",
  "collect",
  "take-over",
  "release",
  "suspend",
  "resume",
  "view",
  "download",
  "reset-password",
  "signed-in",
  "signed-out",
  "sign-in-refused",
  "sign-in-locked",
  "sessions-ended",
  "user-created",
  "password-changed",
  "passkey-added",
  "passkey-removed",
  "two-factor-enabled",
  "two-factor-disabled",
  "backup-codes-made",
  "oidc-connected",
  "oidc-disconnected",
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Types of objects in the audit log, with the words that an entry's `object` begins with. */
const auditTargetWords = {
  admin_token: "admin token",
  agent: "agent",
  agent_settings: "agent settings",
  alert_channel: "alert channel",
  alert_rule: "alert rule",
  api_key: "key",
  key_request: "key request",
  asset: "asset",
  asset_group: "asset group",
  backup: "backup",
  batch: "batch",
  bill: "bill",
  budget: "budget",
  captured_request: "captured request",
  deployment: "deployment",
  directory_group: "directory group",
  file: "file",
  group: "group",
  import: "import",
  guardrail: "guardrail",
  invitation: "invitation",
  master_key: "master key",
  member: "member",
  model: "model",
  oidc_account: "single sign-on",
  password_reset: "password reset",
  playground_share: "playground session",
  provider: "provider",
  rights_rules: "rights rules",
  saved_view: "saved view",
  scheduled_report: "scheduled report",
  second_factor: "second factor",
  setting: "setting",
  user: "user",
  video_task: "video task",
  webhook_secret: "webhook secret",
  workspace: "workspace",
} as const;
export type AuditTargetKind = keyof typeof auditTargetWords;
export const auditTargetKinds = Object.keys(auditTargetWords) as readonly AuditTargetKind[];

/** Object of an audit log entry: `key acme/ci`. */
export type AuditObject = `${(typeof auditTargetWords)[AuditTargetKind]}${"" | ` ${string}`}`;

/** Type and name of an object. null: unknown type. The longest match wins: `asset group g` is not an asset. */
export function auditTargetOf(object: string): { readonly kind: AuditTargetKind; readonly name: string } | null {
  const kind = auditTargetKinds
    .filter((each) => `${object} `.startsWith(`${auditTargetWords[each]} `))
    .toSorted((one, other) => auditTargetWords[other].length - auditTargetWords[one].length)[0];
  return kind === undefined ? null : { kind, name: object.slice(auditTargetWords[kind].length + 1) };
}
