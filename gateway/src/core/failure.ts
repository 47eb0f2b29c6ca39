import { type ErrorCode, errorCodes } from "@sluice/contract/words";
import type { BudgetPeriod, ScopeKind } from "./limit.ts";

/**
 * Status and error types of a code. The contract lists the codes and their status; each status has a type for clients of OpenAI and
 * Anthropic.
 */
interface FailureRow {
  readonly status: number;
  readonly type: string;
  readonly anthropicType: string;
}

type FailureStatus = (typeof errorCodes)[ErrorCode]["status"];

const typesOf: Readonly<Record<FailureStatus, Omit<FailureRow, "status">>> = {
  400: { type: "invalid_request_error", anthropicType: "invalid_request_error" },
  401: { type: "authentication_error", anthropicType: "authentication_error" },
  402: { type: "insufficient_quota", anthropicType: "billing_error" },
  403: { type: "permission_error", anthropicType: "permission_error" },
  404: { type: "invalid_request_error", anthropicType: "not_found_error" },
  405: { type: "invalid_request_error", anthropicType: "invalid_request_error" },
  408: { type: "invalid_request_error", anthropicType: "timeout_error" },
  409: { type: "invalid_request_error", anthropicType: "invalid_request_error" },
  413: { type: "invalid_request_error", anthropicType: "request_too_large" },
  415: { type: "invalid_request_error", anthropicType: "invalid_request_error" },
  426: { type: "invalid_request_error", anthropicType: "invalid_request_error" },
  429: { type: "rate_limit_error", anthropicType: "rate_limit_error" },
  499: { type: "client_closed", anthropicType: "api_error" },
  500: { type: "server_error", anthropicType: "api_error" },
  502: { type: "upstream_error", anthropicType: "api_error" },
  503: { type: "service_unavailable_error", anthropicType: "overloaded_error" },
  504: { type: "timeout_error", anthropicType: "timeout_error" },
};

export const failureTable = Object.fromEntries(
  Object.entries(errorCodes).map(([code, { status }]) => [code, { status, ...typesOf[status] }]),
) as Readonly<Record<ErrorCode, FailureRow>>;

export type FailureCode = ErrorCode;

/**
 * Decided by the code that understood the answer: `never` ends the call, `same` may retry the same deployment, `other` only another
 * one.
 */
export type Retry = "never" | "same" | "other";

/** Additional fields of the error body; times are Unix seconds. */
export interface FailureDetails {
  readonly limit?: number;
  readonly used?: number;
  /** Budgets only: the part of `used` that is held for running calls. */
  readonly held?: number;
  readonly scope?: string;
  /** The name of the guardrail that refused the call. */
  readonly guardrail?: string;
  /** Budgets only. */
  readonly period?: BudgetPeriod;
  readonly resets_at?: number | null;
  /** The fields that Anthropic's API sends, so that its clients recover on their own. */
  readonly details?: { readonly error_code: string; readonly unsupported?: readonly string[] };
}

/** The limit that refused a call. `scopeId`: as in `LimitScope`. */
export interface ReachedLimit {
  readonly scope: ScopeKind;
  readonly scopeId: string;
  readonly kind: "rpm" | "tpm" | "concurrency" | "budget";
  /** The model that serves calls instead, by the budget. */
  readonly fallback?: string;
  /** A budget of a provider: another provider may serve the call. */
  readonly isOfProvider?: true;
}

/** The upstream's answer, which callers of the same dialect receive unchanged. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Uint8Array;
}

/** A problem between the gateway and an upstream account that an operator can fix. */
export type AccountFault =
  | "url"
  | "private_address"
  | "forbidden_address"
  | "name"
  | "unreachable"
  | "certificate"
  | "proxy"
  | "credential"
  | "identity"
  | "credit";

/**
 * Whether a failed request reached the upstream.
 * unsent   it did not leave this machine: resending cannot duplicate it, and it is free
 * refused  the upstream refused it; normally free
 * stale    a reused connection was closed before the request could be processed: it is resent once, and free
 * unknown  it was sent and may have been processed, so it may be charged
 */
export type Arrival = "unsent" | "refused" | "stale" | "unknown";

/**
 * Whether the deployment should be avoided for a while, because the account is at a limit or lacks the model. `once_served_elsewhere`:
 * only if another deployment serves the same request, because the request may be the cause.
 */
export type Cools = "never" | "now" | "once_served_elsewhere";

export interface FailureOptions {
  readonly param?: string | null;
  readonly retry?: Retry;
  readonly retryAfterMs?: number | undefined;
  readonly details?: FailureDetails | undefined;
  /** The limit that refused the call. Not sent to callers. */
  readonly reachedLimit?: ReachedLimit | undefined;
  readonly upstream?: UpstreamAnswer | undefined;
  /** The deployment is unhealthy, so the breaker counts it. */
  readonly unhealthy?: boolean;
  readonly cools?: Cools;
  /** Default: unknown. */
  readonly arrival?: Arrival;
  readonly accountFault?: AccountFault | null;
  /** The prompt exceeds the context window. Clients of each dialect expect their own error for it. */
  readonly contextLength?: boolean;
  /** Overrides the status of the table where the caller's API has another one. */
  readonly status?: number;
  /** Overrides the type in OpenAI's shape. */
  readonly type?: string;
  readonly cause?: unknown;
}

export class Failure extends Error {
  override readonly name = "Failure";
  readonly code: FailureCode;
  readonly param: string | null;
  readonly retry: Retry;
  readonly retryAfterMs: number | undefined;
  readonly details: FailureDetails | undefined;
  readonly reachedLimit: ReachedLimit | undefined;
  readonly upstream: UpstreamAnswer | undefined;
  readonly unhealthy: boolean;
  readonly cools: Cools;
  readonly arrival: Arrival;
  readonly accountFault: AccountFault | null;
  readonly contextLength: boolean;
  readonly status: number;
  readonly type: string;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.param = options.param ?? null;
    this.retry = options.retry ?? "never";
    this.retryAfterMs = options.retryAfterMs;
    this.details = options.details;
    this.reachedLimit = options.reachedLimit;
    this.upstream = options.upstream;
    this.unhealthy = options.unhealthy ?? false;
    this.cools = options.cools ?? "never";
    this.arrival = options.arrival ?? "unknown";
    this.accountFault = options.accountFault ?? null;
    this.contextLength = options.contextLength ?? false;
    this.status = options.status ?? failureTable[code].status;
    this.type = options.type ?? failureTable[code].type;
  }

  /** A copy with changes. */
  with(changes: FailureOptions & { readonly message?: string }): Failure {
    return new Failure(this.code, changes.message ?? this.message, { ...this, cause: this.cause, ...changes });
  }
}

/** Any thrown value as a Failure. Unexpected ones become an internal_error without details. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "Unexpected error in the gateway.", { cause: thrown });
}

/** No intent, no dispatch. */
export function ledgerUnavailable(cause?: unknown): Failure {
  const message = "The ledger cannot be written, so the call was not sent.";
  return new Failure("ledger_unavailable", message, { arrival: "unsent", cause });
}

/** `param`: the field that is wrong. */
export function invalidRequest(param: string, message: string): Failure {
  return new Failure("invalid_request", message, { param });
}

/** The item, or `not_found`. `what` names its kind: "User not found.", "Key not found in this workspace." */
export function orNotFound<Item>(item: Item | null | undefined, what: string, param: string | null = what): Item {
  if (item !== null && item !== undefined) return item;
  const text = what.replace(/( in this workspace)?$/, " not found$1.");
  throw new Failure("not_found", text.charAt(0).toUpperCase() + text.slice(1), { param });
}
