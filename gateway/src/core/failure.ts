import { type ErrorCode, errorCodes } from "@sluice/contract/words";
import type { BudgetPeriod } from "./limit.ts";

/**
 * The one failure of the gateway. Which codes there are, and each one's status, stands in the contract; here a status has the
 * types by which OpenAI's and Anthropic's clients know it.
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
  /** Of a budget. */
  readonly period?: BudgetPeriod;
  readonly resets_at?: number | null;
  /** As Anthropic's API names what was refused, so that its clients recover by themselves. */
  readonly details?: { readonly error_code: string; readonly unsupported?: readonly string[] };
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
  | "proxy"
  | "credential"
  | "credit";

/**
 * What is known of the request behind a failure.
 * unsent   certainly nothing of it has left this machine: sending it again cannot make it twice, and it costs nothing
 * refused  the upstream itself said that it did not do it; that is normally not charged
 * stale    a kept connection was found closed, sooner than anything could be made of the request: it is sent once more and costs nothing
 * unknown  it was sent and may have been done, so it may be charged
 */
export type Arrival = "unsent" | "refused" | "stale" | "unknown";

/**
 * Whether other calls should ask elsewhere first for a moment, because the account is at a limit or does not have the model.
 * `once_served_elsewhere`: it may as well be about the request, until another deployment serves the very same one.
 */
export type Cools = "never" | "now" | "once_served_elsewhere";

export interface FailureOptions {
  readonly param?: string | null;
  readonly retry?: Retry;
  readonly retryAfterMs?: number | undefined;
  readonly details?: FailureDetails | undefined;
  readonly upstream?: UpstreamAnswer | undefined;
  /** True when the deployment itself is unhealthy, so that the breaker counts it. */
  readonly unhealthy?: boolean;
  readonly cools?: Cools;
  /** Default: unknown. */
  readonly arrival?: Arrival;
  readonly accountFault?: AccountFault | null;
  /** The upstream says that the prompt is longer than its model can read: clients of each dialect know that by words of their own. */
  readonly contextLength?: boolean;
  /** Where the caller's own contract has another status for it than the table. */
  readonly status?: number;
  /** The same of its type in OpenAI's shape. */
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
    this.upstream = options.upstream;
    this.unhealthy = options.unhealthy ?? false;
    this.cools = options.cools ?? "never";
    this.arrival = options.arrival ?? "unknown";
    this.accountFault = options.accountFault ?? null;
    this.contextLength = options.contextLength ?? false;
    this.status = options.status ?? failureTable[code].status;
    this.type = options.type ?? failureTable[code].type;
  }

  /** The same with some of it otherwise. */
  with(changes: FailureOptions & { readonly message?: string }): Failure {
    return new Failure(this.code, changes.message ?? this.message, { ...this, cause: this.cause, ...changes });
  }
}

/** Any thrown value as a Failure; what is not ours becomes an internal_error that says nothing of its inside. */
export function asFailure(thrown: unknown): Failure {
  if (thrown instanceof Failure) return thrown;
  return new Failure("internal_error", "The gateway met an unexpected error.", { cause: thrown });
}

/** The item, or `not_found`. `what` names its kind: "There is no such user." */
export function orNotFound<Item>(item: Item | null | undefined, what: string, param: string | null = what): Item {
  if (item !== null && item !== undefined) return item;
  throw new Failure("not_found", `There is no such ${what}.`, { param });
}
