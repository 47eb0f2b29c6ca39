/**
 * The one failure of the gateway and the one table that gives each code its status.
 * Source: CONTRACT §3. `type` is OpenAI's error type, `anthropicType` Anthropic's.
 */
interface FailureRow {
  readonly status: number;
  readonly type: string;
  readonly anthropicType: string;
}

const row = (status: number, type: string, anthropicType: string): FailureRow => ({ status, type, anthropicType });

const badRequest = row(400, "invalid_request_error", "invalid_request_error");
const unauthenticated = row(401, "authentication_error", "authentication_error");
const notFound = row(404, "invalid_request_error", "not_found_error");
const upstream = row(502, "upstream_error", "api_error");
const unavailable = row(503, "service_unavailable_error", "overloaded_error");

export const failureTable = {
  invalid_json: badRequest,
  invalid_request: badRequest,
  missing_required_parameter: badRequest,
  missing_version_header: badRequest,
  unsupported_by_model: badRequest,
  invalid_api_key: unauthenticated,
  expired_api_key: unauthenticated,
  disabled_api_key: unauthenticated,
  conflicting_credentials: unauthenticated,
  not_signed_in: unauthenticated,
  sign_in_refused: unauthenticated,
  budget_exceeded: row(402, "insufficient_quota", "billing_error"),
  ip_not_allowed: row(403, "permission_error", "permission_error"),
  confirm_sign_in: row(403, "permission_error", "permission_error"),
  forbidden: row(403, "permission_error", "permission_error"),
  model_not_found: notFound,
  task_not_found: notFound,
  asset_not_found: notFound,
  asset_group_not_found: notFound,
  not_found: notFound,
  method_not_allowed: row(405, "invalid_request_error", "invalid_request_error"),
  request_timeout: row(408, "invalid_request_error", "timeout_error"),
  idempotency_conflict: row(409, "invalid_request_error", "invalid_request_error"),
  managed_by_file: row(409, "invalid_request_error", "invalid_request_error"),
  conflict: row(409, "invalid_request_error", "invalid_request_error"),
  request_too_large: row(413, "invalid_request_error", "request_too_large"),
  unsupported_media_type: row(415, "invalid_request_error", "invalid_request_error"),
  websocket_unavailable: row(426, "invalid_request_error", "invalid_request_error"),
  rate_limit_exceeded: row(429, "rate_limit_error", "rate_limit_error"),
  client_closed: row(499, "client_closed", "api_error"),
  internal_error: row(500, "server_error", "api_error"),
  upstream_error: upstream,
  upstream_unreachable: upstream,
  upstream_truncated: upstream,
  no_deployment_available: unavailable,
  draining: unavailable,
  ledger_unavailable: unavailable,
  storage_unavailable: unavailable,
  overloaded: unavailable,
  upstream_timeout: row(504, "timeout_error", "timeout_error"),
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof failureTable;

/**
 * Whoever understood the answer decides: `never` ends the call, `same` may try the same deployment again,
 * `other` only another one.
 */
export type Retry = "never" | "same" | "other";

/** Extra members of the error body: what was met, how far it was used, when it frees again (Unix seconds). */
export interface FailureDetails {
  readonly limit?: number;
  readonly used?: number;
  /** Of a budget: how much of `used` is held for calls that are under way, not spent. */
  readonly held?: number;
  readonly scope?: string;
  readonly resets_at?: number | null;
}

/** An upstream's own answer, to be passed through to a caller of the same dialect as it is. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/**
 * What is wrong between us and an upstream, where it is something an operator can mend: its URL, its address, its name, the
 * way to it, its certificate, or the account's credential or credit.
 */
export type AccountFault =
  | "url"
  | "private_address"
  | "forbidden_address"
  | "name"
  | "unreachable"
  | "certificate"
  | "credential"
  | "credit";

/**
 * What is known of the request behind a failure.
 * unsent   certainly nothing of it has left this machine: sending it again cannot make it twice, and it costs nothing
 * refused  the upstream itself said that it did not do it; that is normally not charged
 * stale    a kept connection was found closed: most probably never read, so it is sent once more; it may be charged all the same
 * unknown  it was sent and may have been done, so it may be charged
 */
export type Arrival = "unsent" | "refused" | "stale" | "unknown";

export interface FailureOptions {
  readonly param?: string | null;
  readonly retry?: Retry;
  readonly retryAfterMs?: number;
  readonly details?: FailureDetails;
  readonly upstream?: UpstreamAnswer;
  /** True when the deployment itself is unhealthy, so that the breaker counts it. */
  readonly unhealthy?: boolean;
  /** Default: unknown. */
  readonly arrival?: Arrival;
  readonly accountFault?: AccountFault;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  readonly param: string | null;
  readonly retry: Retry;
  readonly retryAfterMs: number | undefined;
  readonly details: FailureDetails | undefined;
  readonly upstream: UpstreamAnswer | undefined;
  readonly unhealthy: boolean;
  readonly arrival: Arrival;
  readonly accountFault: AccountFault | null;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.retry = options.retry ?? "never";
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.upstream = options.upstream;
    this.unhealthy = options.unhealthy ?? false;
    this.arrival = options.arrival ?? "unknown";
    this.accountFault = options.accountFault ?? null;
  }

  get status(): number {
    return failureTable[this.code].status;
  }

  /** The same with some of it otherwise. */
  with(changes: FailureOptions & { readonly message?: string }): Failure {
    const { param, retry, retryAfterMs, details, upstream, unhealthy, arrival, accountFault, cause } = this;
    return new Failure(this.code, changes.message ?? this.message, {
      param,
      retry,
      unhealthy,
      arrival,
      cause,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(details === undefined ? {} : { details }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(accountFault === null ? {} : { accountFault }),
      ...changes,
    });
  }
}

/** Any thrown value as a Failure; what is not ours becomes an internal_error that says nothing of its inside. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "The gateway met an unexpected error.", { cause: thrown });
}
