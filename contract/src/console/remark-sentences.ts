import type { Remark, RemarkCode, RemarkKind } from "./remark-codes.ts";

/** Reasons why an address did not accept a message. */
const toAnAddress = {
  answered: "The address returned {status}.",
  unreachable: "The address could not be reached, or is not public.",
  timeout: "The address did not respond in time.",
} as const;

/** English sentences by code. */
const sentences = {
  place: {
    fallback_model: "a fallback model",
    account_bound: "only this account has the state that the call continues",
    drawn_by_weight: "drawn by weight and load, first of {count}",
    affinity: "affinity: preferred for this conversation, first of {count}",
    full: "full, {in_flight} calls in flight",
    half_open: "breaker half-open, a probe is running",
    recovering: "recovering, receives {percent} % of its calls",
    cooling: "cooling for {seconds} s",
    breaker_open: "breaker open for {seconds} s",
    failures_in_a_row: "{count} failures in a row",
    failure_share: "{failures} of {calls} calls failed within {seconds} s",
    probe_failed: "the probe failed",
    refused_a_call: "it refused a call because of its limit or model",
    upstream_asked_to_wait: "its upstream asked to wait",
    deployment_disabled: "left out: disabled",
    provider_disabled: "left out: its provider is disabled",
    cannot_serve: "left out: it cannot serve this call",
    other_account: "left out: another account has the state that the call continues",
    no_weight: "left out: weight 0, while others of its priority have a weight",
    duplicate: "left out: the same deployment is listed above",
  },
  step: {
    places_not_shown: "{count} more deployments are not shown",
    try_first: "attempt {attempt} to {deployment}: first in order",
    try_first_unready: "attempt {attempt} to {deployment}: none is ready, so the first in order is tried anyway",
    try_next: "attempt {attempt} to {deployment}: next in order",
    try_larger: "attempt {attempt} to {deployment}: next in order with a larger context window",
    try_same: "attempt {attempt} to {deployment}: the same again after {wait_ms} ms",
    try_same_asked: "attempt {attempt} to {deployment}: the same again after the {wait_ms} ms its upstream asked for",
    try_unready: "attempt {attempt} to {deployment}: none is ready, so one that is not is tried",
    failed: "{deployment} failed: {code}, retry {retry}",
    stop_nothing_left: "no further attempt: nothing is left to try",
    stop_all_full: "no further attempt: every deployment is at its limit of calls in flight",
    stop_maybe_charged:
      "no further attempt: the call was sent, and sending it again may be charged twice (settings.retry_sent)",
    stop_not_retryable: "no further attempt: this failure is not retried",
    stop_enough_attempts: "no further attempt: the limit of attempts is reached",
    stop_too_many_repeats: "no further attempt: the same deployment was retried too often just now",
  },
  taskEvent: {
    sent: "sent to {provider} as {model}",
    accepted: "accepted by the upstream",
    found_in_list: "found in the upstream's list",
  },
  importRefusal: {
    managed_by_file: "The config file manages this model. Add the provider to it there.",
    other_type: "A model with this name and type {type} already exists.",
    already_there: "It already has this deployment.",
    too_many_deployments: "It already has {count} deployments, the maximum.",
  },
  simulation: {
    nothing_used: "Nothing was used in this period.",
    class_without_price: "`{class}` has no price, so {count} units of it cost nothing here.",
    variants_not_told_apart: "Totals do not separate videos by resolution or audio: all are counted at the base price.",
    long_context_not_told_apart: "Totals do not separate long-context requests: all are counted at the standard price.",
    rounded_at_once: "Each request is charged in whole billionths of a dollar; here the total is calculated at once.",
  },
  callback: toAnAddress,
  alert: {
    ...toAnAddress,
    no_mail_server: "No mail server is configured: set SLUICE_SMTP_URL.",
    too_many_mails: "Too many emails were sent from this workspace within an hour.",
    channel_off: "The channel was turned off or deleted.",
    resolved_while_quiet: "The alert resolved during quiet hours.",
    report_owner_left: "The owner of the report can no longer sign in.",
    report_right_lost: "The owner of the report may no longer see its data.",
    report_unreadable: "The view of the report is no longer valid.",
    report_no_channel: "The report has no enabled channel.",
    report_failed: "The data of the report could not be read.",
  },
  attention: {
    budget_exhausted: "{name} has used {used} of {limit} USD ({period}). Its calls are refused.",
    budget_refusing:
      "{name} has used {used} of {limit} USD ({period}). It refuses calls that may cost more than is left.",
    budget_falls_back:
      "{name} has used {used} of {limit} USD ({period}). Calls that do not fit run with {model} instead.",
    budget_fallback_missing:
      "The fallback model {model} of the budget {name} does not exist. Calls that do not fit are refused.",
    budget_near: "{name} has used {percent} % of its budget: {used} of {limit} USD ({period}).",
    error_spike: "{failed} of {requests} recent requests in {name} failed: {percent} %, usually {usual_percent} %.",
    error_spike_others:
      "{failed} of {requests} recent requests in smaller workspaces failed: {percent} %, usually {usual_percent} %.",
    provider_down: "{name} is down: calls to it are stopped after repeated failures.",
    provider_unhealthy: "{name} is recovering, or some of its deployments are down.",
    provider_errors: "{name} failed in {failed} of {attempts} attempts in the last hour.",
    key_expiring: "The key {name} expires in {hours} h.",
    key_requests_pending: "Key requests waiting for a decision in {name}: {count}.",
    key_request_approved: "Your request for the key {name} was approved. Collect the key.",
    admin_token_expiring: "The admin token {name} expires in {hours} h.",
    secret_unreadable: "A secret of {name} cannot be read, so its calls fail.",
    certificate_expired: "The certificate of {name} has expired.",
    certificate_expiring: "The certificate of {name} expires in {hours} h.",
    model_unpriced: "{name} has no price and got {requests} requests in the last 7 days.",
    models_unpriced_unused: "Models without a price and without recent requests: {count}.",
    price_list_old: "The price list is {days} days old.",
    alert_failed: "Alerts could not be sent to the channel {name}.",
    webhooks_failed: "{count} webhooks could not be delivered in the last 24 hours.",
    alert_open: "{text}",
    ledger_unwritten: "The ledger cannot be written; {entries} entries are waiting.",
    ledger_behind: "The ledger is behind: {entries} entries are waiting.",
    gateway_problem: "The gateway reports: {problem}.",
    process_silent: "The process on {name} sends no heartbeat.",
    check_failed: "Could not check this: {check}.",
  },
} as const satisfies { readonly [Kind in RemarkKind]?: Readonly<Record<RemarkCode<Kind>, string>> };

/** The database stores only the sentences of these, so code and parameters are parsed from the sentence. */
type StoredKind = "taskEvent" | "callback" | "alert";

export function remarkSentence<Kind extends keyof typeof sentences>(
  kind: Kind,
  { code, params }: { readonly code: RemarkCode<Kind>; readonly params: Remark<Kind>["params"] },
): string {
  const ofKind: Readonly<Record<string, string>> = sentences[kind];
  const values: Readonly<Record<string, string | number>> = params;
  return (ofKind[code] ?? "").replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** null: not one of our sentences, such as a provider's message. */
export function storedRemark<Kind extends StoredKind>(kind: Kind, sentence: string | null): Remark<Kind> | null {
  if (sentence === null) return null;
  for (const [code, pattern] of patterns[kind]) {
    const found = pattern.exec(sentence);
    if (found === null) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, text]) => [
      name,
      name === "status" ? Number(text) : text,
    ]);
    return { code, params: Object.fromEntries(params) } as Remark<Kind>;
  }
  return null;
}

type Patterns = readonly (readonly [code: string, pattern: RegExp])[];
const patterns: { readonly [Kind in StoredKind]: Patterns } = {
  taskEvent: patternsOf(sentences.taskEvent),
  callback: patternsOf(sentences.callback),
  alert: patternsOf(sentences.alert),
};

/** Provider ids and statuses have no spaces. A model's name may have some; it is the last parameter. */
function patternsOf(ofKind: Readonly<Record<string, string>>): Patterns {
  return Object.entries(ofKind).map(([code, sentence]) => {
    const source = sentence
      .split(/(\{\w+\})/)
      .map((part) => (/^\{\w+\}$/.test(part) ? `(?<${part.slice(1, -1)}>${valuePattern(part)})` : RegExp.escape(part)));
    return [code, new RegExp(`^${source.join("")}$`)];
  });
}

function valuePattern(hole: string): string {
  if (hole === "{status}") return "\\d+";
  return hole === "{model}" ? ".+" : "\\S+";
}
