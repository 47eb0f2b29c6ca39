/**
 * Every error code a caller can meet, with its HTTP status and what to do about it. The gateway makes its failures of this
 * table: a new code is a row here.
 */
export interface ErrorCodeRow {
  readonly status: number;
  readonly help: string;
}

export const errorCodes = {
  invalid_json: { status: 400, help: "The body is not valid JSON, or is nested too deeply." },
  invalid_request: { status: 400, help: "A field has a value that cannot be used; `param` names it." },
  missing_required_parameter: { status: 400, help: "A required field is missing; `param` names it." },
  missing_version_header: { status: 400, help: "The dialect of this endpoint needs its version header." },
  unsupported_by_model: { status: 400, help: "This model cannot serve this endpoint or option." },
  invalid_api_key: { status: 401, help: "No key was sent, or it is not known. Send `Authorization: Bearer <key>`." },
  expired_api_key: {
    status: 401,
    help: "The key has reached its expiry date, or was given a new secret and the time of this one is over.",
  },
  disabled_api_key: { status: 401, help: "The key is switched off." },
  conflicting_credentials: { status: 401, help: "`authorization` and `x-api-key` hold different keys. Send one." },
  not_signed_in: { status: 401, help: "The admin API needs a session of the console or an admin token." },
  sign_in_refused: { status: 401, help: "Sign-in to the console: what was given is wrong. `param` may say what." },
  budget_exceeded: {
    status: 402,
    help: "A budget is used up. `scope` says whose, `resets_at` when it frees again (null: never by itself).",
  },
  ip_not_allowed: { status: 403, help: "The key may not be used from this address." },
  confirm_sign_in: { status: 403, help: "This needs a fresh sign-in. Sign in again, then repeat it." },
  managed_by_file: { status: 409, help: "The config file owns this object. Change it there." },
  model_not_priced: {
    status: 403,
    help: "The model has no price, and this installation serves no model without one. An administrator sets a price, or allows it.",
  },
  forbidden: { status: 403, help: "The caller may not do this: its workspace is switched off, say." },
  model_not_found: { status: 404, help: "No such model for this key. `GET /v1/models` lists those there are." },
  task_not_found: { status: 404, help: "No such task in this workspace." },
  asset_not_found: { status: 404, help: "No such asset in this workspace." },
  asset_group_not_found: { status: 404, help: "No such asset group in this workspace." },
  not_found: { status: 404, help: "No such path." },
  method_not_allowed: { status: 405, help: "The path exists, the method does not; `allow` lists those that do." },
  request_timeout: { status: 408, help: "The request body did not arrive in time." },
  idempotency_conflict: { status: 409, help: "The idempotency key was used before with a different body." },
  conflict: { status: 409, help: "The thing is in a state that does not allow this." },
  request_too_large: { status: 413, help: "The body is larger than the gateway accepts." },
  unsupported_media_type: {
    status: 415,
    help: "The body has a content type that the endpoint does not take; the message says which it does.",
  },
  websocket_unavailable: {
    status: 426,
    help: "This cannot be had over a WebSocket; the message says why. Send the same as an ordinary HTTP request.",
  },
  rate_limit_exceeded: {
    status: 429,
    help: "A rate or concurrency limit is reached. Wait as long as `retry-after` says; `scope` names the limit.",
  },
  budget_held: {
    status: 429,
    help: "A budget is not spent, but the rest of it is held for calls in flight. Wait as long as `retry-after` says.",
  },
  client_closed: { status: 499, help: "The caller went away. Never sent; it appears in the ledger and in logs." },
  internal_error: { status: 500, help: "Unexpected error in the gateway. Quote `x-request-id` when reporting it." },
  upstream_error: { status: 502, help: "The upstream answered with an error or with something unreadable." },
  upstream_unreachable: { status: 502, help: "No connection to the upstream could be made." },
  upstream_truncated: { status: 502, help: "The upstream's answer broke off before its end." },
  no_deployment_available: { status: 503, help: "Nothing is configured, or nothing is healthy, to serve this model." },
  draining: { status: 503, help: "This process is shutting down. Try again; another one will answer." },
  overloaded: {
    status: 503,
    help: "The gateway holds as many large requests as it may. Wait as long as `retry-after` says.",
  },
  ledger_unavailable: { status: 503, help: "The ledger cannot be written, so nothing is sent. The operator must act." },
  storage_unavailable: {
    status: 503,
    help: "Where files are kept (the disk, or the bucket) takes or gives none now. Try again after `retry-after`.",
  },
  upstream_timeout: { status: 504, help: "The upstream took too long; the message says which wait it was." },
} as const satisfies Record<string, ErrorCodeRow>;

export type ErrorCode = keyof typeof errorCodes;

/**
 * Why an attempt at an upstream failed: the label `cause` of metrics, and a member of log lines. `fault`: whose it is. Only what is the
 * provider's counts against it in alerts.
 */
export const failureCauses = {
  rate_limited: { fault: "provider", help: "The account is over a rate limit (429)." },
  credentials: {
    fault: "provider",
    help: "The provider refused the account's credentials (401, or a 403 that says so).",
  },
  credit: { fault: "provider", help: "The account has no credit or quota left." },
  overloaded: { fault: "provider", help: "The upstream is overloaded (503, 529)." },
  not_found: {
    fault: "provider",
    help: "The account does not have the model, or the base URL is wrong (404 to a call that names nothing else).",
  },
  server_error: { fault: "provider", help: "The upstream answered 5xx, or with something unreadable." },
  timeout: { fault: "provider", help: "The upstream took too long." },
  connection: { fault: "provider", help: "No connection to the upstream could be made." },
  cut: { fault: "provider", help: "The upstream's answer broke off before its end." },
  bad_request: { fault: "caller", help: "The upstream refused the request itself (400, 404 of an object, 413, 422)." },
  forbidden: { fault: "caller", help: "The upstream forbids what is asked (403 that is not about the credentials)." },
  gateway: { fault: "gateway", help: "Not the upstream: the gateway itself could not go on." },
} as const satisfies Record<string, { fault: "provider" | "caller" | "gateway"; help: string }>;

export type FailureCause = keyof typeof failureCauses;

/** Facts about a failed attempt. `status` is the upstream's HTTP status; null if it sent none. */
interface FailedWith {
  readonly code: string;
  readonly status: number | null;
  readonly accountFault?: string | null;
  /** It is about what the account has, not about what the request holds or names. */
  readonly lacksModel?: boolean;
  /** The request names an object of its caller's, which may be what is not there. */
  readonly namesObject?: boolean;
  /** Waiting does not help: the quota is spent. */
  readonly spent?: boolean;
}

export function failureCause(failed: FailedWith): FailureCause {
  const { code, status, accountFault } = failed;
  if (accountFault === "credential") return "credentials";
  if (accountFault === "credit") return "credit";
  const known = causesByCode[code];
  if (known !== undefined) return known;
  if (code !== "upstream_error") {
    return ((errorCodes as Record<string, ErrorCodeRow>)[code]?.status ?? 500) < 500 ? "bad_request" : "gateway";
  }
  if (status === null || status < 400) return "server_error";
  if (failed.lacksModel === true) return "not_found";
  if (status === 404) return failed.namesObject === true ? "bad_request" : "not_found";
  if (status === 429) return failed.spent === true ? "credit" : "rate_limited";
  return causesByStatus[status] ?? (status < 500 ? "bad_request" : "server_error");
}

const causesByCode: Readonly<Record<string, FailureCause>> = {
  upstream_timeout: "timeout",
  upstream_unreachable: "connection",
  upstream_truncated: "cut",
};

const causesByStatus: Readonly<Record<number, FailureCause>> = {
  401: "credentials",
  402: "credit",
  403: "forbidden",
  408: "timeout",
  425: "overloaded",
  503: "overloaded",
  504: "timeout",
  529: "overloaded",
};

/** The same table as Markdown, for the API reference. */
export function errorCodeTable(): string {
  const rows = Object.entries(errorCodes).map(([code, row]) => `| ${row.status} | \`${code}\` | ${row.help} |`);
  return ["| status | code | what it means |", "|---|---|---|", ...rows].join("\n");
}
