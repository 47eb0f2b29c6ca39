export const attention = {
  title: "Needs attention",
  clear: "All clear",
  clearHelp: "Checked: {checks}.",
  openAlerts: "{count, plural, one {# alert} other {# alerts}}",
  checking: "Checking…",
  more: "{count, plural, one {# more like this} other {# more like this}}",
  severity: {
    critical: "Critical",
    warning: "Warning",
    notice: "Notice",
  },
  check: {
    gateway: "gateway",
    providers: "providers",
    errors: "error rate",
    budgets: "budgets",
    certificates: "certificates",
    keys: "expiring keys",
    requests: "key requests",
    tokens: "admin tokens",
    prices: "prices",
    webhooks: "alerts and webhooks",
    alerts: "open alerts",
  },
  finding: {
    budget_exhausted:
      "{name} has used {used} of its {limit} {period, select, hour {hourly } day {daily } week {weekly } month {monthly } other {}}budget. Its calls are refused.",
    budget_refusing:
      "{name} has used {used} of its {limit} {period, select, hour {hourly } day {daily } week {weekly } month {monthly } other {}}budget. Calls that may cost more than what is left are refused.",
    budget_falls_back:
      "{name} has used {used} of its {limit} {period, select, hour {hourly } day {daily } week {weekly } month {monthly } other {}}budget. Calls that do not fit run with {model} instead.",
    budget_fallback_missing:
      "The fallback model {model} of the budget {name} does not exist. Calls that do not fit are refused.",
    budget_near:
      "{name} has used {used} ({percent}%) of its {limit} {period, select, hour {hourly } day {daily } week {weekly } month {monthly } other {}}budget.",
    error_spike:
      "{failed, number} of {requests, number} recent requests in {name} failed: {percent}%, usually {usual_percent}%.",
    error_spike_others:
      "{failed, number} of {requests, number} recent requests in smaller workspaces failed: {percent}%, usually {usual_percent}%.",
    provider_down: "{name} is down. Calls to it are stopped after repeated failures.",
    provider_unhealthy: "{name} is recovering, or some of its deployments are down.",
    provider_errors: "{name} failed in {failed, number} of {attempts, number} attempts in the last hour.",
    key_expiring: "The key {name} expires in {hours}.",
    key_requests_pending:
      "{count, plural, one {# key request waits} other {# key requests wait}} for a decision in {name}.",
    key_request_approved: "Your request for the key {name} was approved. Collect the key to see its secret.",
    admin_token_expiring: "The admin token {name} expires in {hours}.",
    secret_unreadable: "A secret of {name} cannot be read, so its calls fail.",
    certificate_expired: "The certificate of {name} has expired.",
    certificate_expiring: "The certificate of {name} expires in {hours}.",
    model_unpriced:
      "{name} has no price and got {requests, plural, one {# request} other {# requests}} in the last 7 days.",
    models_unpriced_unused:
      "{count, plural, one {# model without recent requests has no price.} other {# models without recent requests have no price.}}",
    price_list_old: "The price list is {days} days old. Newer prices may be missing.",
    alert_failed: "Alerts could not be sent to the channel {name}.",
    webhooks_failed: "{count, plural, one {# webhook} other {# webhooks}} could not be delivered in the last 24 hours.",
    alert_open: "{text}",
    ledger_unwritten:
      "The ledger cannot be written. {entries, plural, one {# entry is} other {# entries are}} waiting.",
    ledger_behind: "The ledger is behind: {entries, plural, one {# entry is} other {# entries are}} waiting.",
    gateway_problem: "The gateway reports: {problem}.",
    process_silent: "The process on {name} sends no heartbeat.",
    check_failed: "Could not check: {check}. Try again, or read the gateway's log.",
  },
  fix: {
    cause: "Open cause",
    limit: "Change limit",
    policy: "Open policy",
    requests: "View requests",
    provider: "Open provider",
    key: "Open key",
    keyRequests: "Review requests",
    collect: "Collect key",
    tokens: "Open tokens",
    price: "Set price",
    models: "View models",
    priceList: "Update price list",
    alert: "Open alerts",
    task: "Open task",
    system: "Open system",
  },
} as const;
