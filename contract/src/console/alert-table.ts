/** Conditions that an alert rule can watch. */
export const alertKinds = [
  "budget",
  "error_rate",
  "latency",
  "provider_down",
  "spend_anomaly",
  "token_expiry",
  "key_request",
  "delivery_failure",
  "guardrail_findings",
  "guardrail_failure",
  "shadow",
  "batch_rows_failed",
  "batch_stuck",
  "bill_difference",
] as const;
export type AlertKind = (typeof alertKinds)[number];

export const alertChannelKinds = ["email", "slack", "teams", "pagerduty", "webhook"] as const;
export type AlertChannelKind = (typeof alertChannelKinds)[number];

export const alertStates = ["open", "resolved"] as const;

/** Why a message is sent. `worse`: the alert reached its next threshold. `reminder`: it is still open. */
export const alertEvents = ["opened", "worse", "reminder", "resolved"] as const;
export type AlertEvent = (typeof alertEvents)[number];

export const alertSeverities = ["warning", "critical"] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

export type AlertFacts = Readonly<Record<string, string | number>>;

export interface AlertSubject {
  readonly kind: AlertKind;
  /** Names, figures and thresholds, by kind. `alertSentence` lists them. `ended`: why it ended although its condition held. */
  readonly facts: AlertFacts;
}

/** The page of the console that shows the cause, below `/console`. `workspace`: a slug; null: the installation. */
export function alertPage({ kind, facts }: AlertSubject, workspace: string | null): string {
  const text = (name: string) => String(facts[name] ?? "");
  const query = workspace === null ? "" : `workspace=${encodeURIComponent(workspace)}`;
  const at = (path: string, more = "") => {
    const search = [query, more].filter((part) => part !== "").join("&");
    return search === "" ? path : `${path}?${search}`;
  };
  const filters = ["model", "provider", "key", "group"]
    .filter((name) => text(name) !== "")
    .map((name) => `${name}=${encodeURIComponent(text(name))}`);
  switch (kind) {
    case "budget":
      return at("/limits", `object=${encodeURIComponent(`${text("scope")}:${text("scope_id")}`)}`);
    case "error_rate":
      return at("/requests", ["outcome=failed", ...filters].join("&"));
    case "latency":
      return at("/requests", filters.join("&"));
    case "provider_down":
      return at(`/providers/${encodeURIComponent(text("provider"))}`);
    case "spend_anomaly":
      return at("/");
    case "token_expiry":
      return at(`/keys/${encodeURIComponent(text("key_id"))}`);
    case "key_request":
      return at("/keys", `view=requests&request=${encodeURIComponent(text("request"))}`);
    case "delivery_failure":
      return facts["target"] === "channel" ? at("/alerts", "tab=channels") : at("/media");
    case "guardrail_findings":
      return at("/guardrails", `tab=findings&rule=${encodeURIComponent(text("guardrail_id"))}`);
    case "guardrail_failure":
      return at("/guardrails", `tab=findings&rule=${encodeURIComponent(text("guardrail_id"))}&verdict=failed`);
    case "shadow":
      return shadowPage(facts, at);
    case "bill_difference":
      return at("/bill", `provider=${encodeURIComponent(text("provider"))}&day=${text("day")}`);
    case "batch_rows_failed":
    case "batch_stuck":
      return at(`/batches/${encodeURIComponent(text("batch"))}`);
  }
}

/** The findings of a guardrail in shadow mode, or the object with the limit or grant. */
function shadowPage(facts: AlertFacts, at: (path: string, more?: string) => string): string {
  const text = (name: string) => encodeURIComponent(String(facts[name] ?? ""));
  if (facts["guardrail_id"] !== undefined) {
    return at("/guardrails", `tab=findings&rule=${text("guardrail_id")}&enforced=false`);
  }
  if (facts["grant"] === "limit")
    return at("/limits", `object=${encodeURIComponent(`${facts["scope"]}:`)}${text("scope_id")}`);
  if (facts["scope"] === "key") return at(`/keys/${text("scope_id")}`);
  const home = `/workspaces/${text("workspace")}`;
  return facts["scope"] === "group" ? at(home, `tab=groups&group=${text("scope_id")}`) : at(home);
}
