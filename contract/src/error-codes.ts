/**
 * Every error code that a caller can receive, with its HTTP status and what to do about it. To add a code, add a row here.
 */
export interface ErrorCodeRow {
  readonly status: number;
  readonly help: string;
}

export const errorCodes = {
  invalid_json: { status: 400, help: "The body is not valid JSON, or is nested too deeply." },
  invalid_request: { status: 400, help: "A field has a value that cannot be used; `param` names it." },
  missing_required_parameter: { status: 400, help: "A required field is missing; `param` names it." },
  missing_version_header: { status: 400, help: "The endpoint requires its API version header." },
  guardrail_blocked: {
    status: 400,
    help: "A guardrail refused the request or the answer. `guardrail` names it. An admin of the workspace can see what it found.",
  },
  guardrail_failed: {
    status: 503,
    help: "A guardrail could not check the request or the answer, and blocks calls then. `guardrail` names it. Try again.",
  },
  file_quota_exceeded: {
    status: 400,
    help: "The workspace has no room for the file. Delete files, or ask an administrator for more room.",
  },
  unsupported_by_model: { status: 400, help: "This model cannot serve this endpoint or option." },
  invalid_api_key: { status: 401, help: "The API key is missing or unknown. Send `Authorization: Bearer <key>`." },
  expired_api_key: {
    status: 401,
    help: "The key has expired, or it was rotated and the grace period of this secret has ended.",
  },
  disabled_api_key: { status: 401, help: "The key is disabled. An admin of its workspace can enable it." },
  revoked_api_key: { status: 401, help: "The key is revoked, which is permanent. Use another key." },
  conflicting_credentials: {
    status: 401,
    help: "`authorization` and `x-api-key` contain different keys. Send one of them.",
  },
  not_signed_in: { status: 401, help: "The admin API requires a console session or an admin token." },
  sign_in_refused: { status: 401, help: "Sign-in to the console failed. `param` may name the wrong field." },
  budget_exceeded: {
    status: 402,
    help: "The rest of a budget is too small for the call. `scope` names the budget, and `resets_at` is when it resets (null: never automatically).",
  },
  ip_not_allowed: { status: 403, help: "The key may not be used from this IP address." },
  confirm_sign_in: { status: 403, help: "This needs a recent sign-in. Sign in again, then repeat the request." },
  managed_by_file: { status: 409, help: "The config file manages this object. Change it there." },
  model_not_priced: {
    status: 403,
    help: "The model has no price, and the settings block models without one. An administrator can set a price or allow the model.",
  },
  forbidden: { status: 403, help: "The caller may not do this, or its workspace is disabled." },
  model_not_found: {
    status: 404,
    help: "The model does not exist, or the key may not use it. `GET /v1/models` lists the models of the key.",
  },
  task_not_found: { status: 404, help: "The task does not exist in this workspace." },
  asset_not_found: { status: 404, help: "The asset does not exist in this workspace." },
  asset_group_not_found: { status: 404, help: "The asset group does not exist in this workspace." },
  file_expired: { status: 404, help: "The file has expired. Upload it again." },
  not_found: { status: 404, help: "The path does not exist." },
  method_not_allowed: { status: 405, help: "The path does not support this method. `allow` lists the supported ones." },
  request_timeout: { status: 408, help: "The request body did not arrive in time." },
  idempotency_conflict: { status: 409, help: "The idempotency key was already used with a different body." },
  conflict: { status: 409, help: "The object is in a state that does not allow this." },
  request_too_large: { status: 413, help: "The body is larger than the gateway accepts." },
  unsupported_media_type: {
    status: 415,
    help: "The endpoint does not accept this content type. The message lists the accepted ones.",
  },
  websocket_unavailable: {
    status: 426,
    help: "Not available over a WebSocket; the message gives the reason. Send an HTTP request instead.",
  },
  rate_limit_exceeded: {
    status: 429,
    help: "A rate or concurrency limit is reached. Retry after `retry-after` seconds; `scope` names the limit.",
  },
  budget_held: {
    status: 429,
    help: "The rest of a budget is reserved for calls in flight. Retry after `retry-after` seconds.",
  },
  client_closed: { status: 499, help: "The caller disconnected. Never sent; it appears in the ledger and in logs." },
  internal_error: {
    status: 500,
    help: "The gateway had an unexpected error. Include `x-request-id` when you report it.",
  },
  upstream_error: { status: 502, help: "The upstream returned an error or an unreadable response." },
  upstream_unreachable: { status: 502, help: "The upstream could not be reached." },
  upstream_truncated: { status: 502, help: "The upstream's response ended before it was complete." },
  no_deployment_available: { status: 503, help: "No deployment of this model is configured, enabled and healthy." },
  draining: { status: 503, help: "This process is shutting down. Retry to reach another one." },
  overloaded: {
    status: 503,
    help: "The gateway is handling too many large requests. Retry after `retry-after` seconds.",
  },
  ledger_unavailable: {
    status: 503,
    help: "The ledger cannot be written, so no calls are sent. The operator must fix it.",
  },
  storage_unavailable: {
    status: 503,
    help: "The database or the file storage (disk or bucket) is unavailable. Retry after `retry-after` seconds.",
  },
  upstream_timeout: { status: 504, help: "The upstream took too long. The message names the timeout." },
} as const satisfies Record<string, ErrorCodeRow>;

export type ErrorCode = keyof typeof errorCodes;

/**
 * Why an attempt at an upstream failed: the label `cause` of metrics and a field of log lines. Only causes with `fault: "provider"`
 * count against the provider in alerts.
 */
export const failureCauses = {
  rate_limited: { fault: "provider", help: "The account is over a rate limit (429)." },
  credentials: {
    fault: "provider",
    help: "The provider rejected the account's credentials (401, or a 403 with that reason).",
  },
  credit: { fault: "provider", help: "The account has no credit or quota left." },
  overloaded: { fault: "provider", help: "The upstream is overloaded (503, 529)." },
  not_found: {
    fault: "provider",
    help: "The account does not have the model, or the base URL is wrong (404 to a call that names no other object).",
  },
  server_error: { fault: "provider", help: "The upstream returned 5xx or an unreadable response." },
  timeout: { fault: "provider", help: "The upstream took too long." },
  connection: { fault: "provider", help: "The upstream could not be reached." },
  cut: { fault: "provider", help: "The upstream's response ended before it was complete." },
  bad_request: {
    fault: "caller",
    help: "The upstream rejected the request itself (400, 404 for an object, 413, 422).",
  },
  forbidden: { fault: "caller", help: "The upstream does not allow the request (403 that is not about credentials)." },
  gateway: { fault: "gateway", help: "The gateway itself failed, not the upstream." },
} as const satisfies Record<string, { fault: "provider" | "caller" | "gateway"; help: string }>;

export type FailureCause = keyof typeof failureCauses;

/** Facts about a failed attempt. `status` is the upstream's HTTP status; null if it sent none. */
interface FailedWith {
  readonly code: string;
  readonly status: number | null;
  readonly accountFault?: string | null;
  /** The account lacks the model; the request itself is valid. */
  readonly lacksModel?: boolean;
  /** The request names an object of the caller, which may be the one that was not found. */
  readonly namesObject?: boolean;
  /** Waiting does not help: the quota is spent. */
  readonly spent?: boolean;
}

export function failureCause(failed: FailedWith): FailureCause {
  const { code, status, accountFault } = failed;
  if (accountFault === "credential" || accountFault === "identity") return "credentials";
  if (accountFault === "credit") return "credit";
  const byCode = causesByCode[code];
  if (byCode !== undefined) return byCode;
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
  return ["| status | code | meaning |", "|---|---|---|", ...rows].join("\n");
}
