/** Enum values of the admin API. They are separate from the schemas, so that pages can load them alone. */

export const keyStates = ["active", "disabled", "expired", "revoked", "without_secret"] as const;
/** `approved`: its key was not collected yet. `expired`: not decided or not collected in time. */
export const keyRequestStates = ["pending", "approved", "collected", "declined", "withdrawn", "expired"] as const;
export type KeyRequestState = (typeof keyRequestStates)[number];

export const captures = ["none", "headers", "bodies"] as const;
export type Capture = (typeof captures)[number];

/** Scopes of limits, widest first. `person`: a user in one workspace. */
/** Objects that have limits and a budget. */
export const limitedObjects = ["workspace", "group", "person", "key"] as const;
export const limitScopes = [...limitedObjects, "policy"] as const;
export const limitKinds = ["rpm", "tpm", "concurrency", "budget"] as const;

/** `at_risk`: used to 80 % or more, including `exhausted`. `running_out`: budgets that will not last their period. */
export const limitStates = ["at_risk", "exhausted", "running_out"] as const;

/** Sort orders of limits. `place`: each workspace with its people, groups and keys. */
export const limitSorts = bothWays("place", "used", "resets_at", "exhausted_at");
export type LimitSort = (typeof limitSorts)[number];

/** `pending`: the upstream is still generating the response in the background. It has no ledger entry yet. */
export const outcomes = ["succeeded", "failed", "cancelled", "interrupted", "rejected", "pending"] as const;

/** Model names in the ledger for calls without a model of the gateway. */
export const unnamedModels = {
  /** Refused: the requested model does not exist or is not granted. Callers may send any text, so their texts are not counted. */
  unknown: "(unknown)",
  /** Refused before the body was read. */
  unread: "(not read)",
  /** Passed through, without a model's price. */
  passThrough: "(pass-through)",
} as const;

export const taskStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;

/**
 * States of a batch. `in_progress`: rows run. `canceling`: no further row begins. `finalizing`: its results are being written. The
 * others are final.
 */
export const batchStates = [
  ...(["in_progress", "canceling", "finalizing"] as const),
  ...(["completed", "canceled", "expired", "failed"] as const),
] as const;

/** Objects that a vendor stores for later calls, and that are listed. */
export const storedObjectKinds = ["conversation", "container", "skill", "vector_store"] as const;

/** `user_agent`: family of clients. `tag`: values of one tag. */
export const usageDimensions = [
  ...(["none", "model", "provider", "key", "group", "workspace", "person"] as const),
  ...(["tag", "user_agent", "endpoint"] as const),
] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** Dimensions to group findings by. */
export const findingsDimensions = ["verdict", "type", "guardrail", "person", "key"] as const;
export type FindingsDimension = (typeof findingsDimensions)[number];

/** Measures of usage over time. */
export const usageMeasures = [
  "cost_usd",
  "requests",
  "attempts",
  "failed",
  "failed_requests",
  "cancelled",
  "input_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "output_tokens",
  "reasoning_tokens",
  "reasoning_share",
  "cache_read_share",
  "cache_saved_usd",
  "request_latency_p50_ms",
  "request_latency_p95_ms",
  "request_first_token_p50_ms",
  "request_first_token_p95_ms",
  "latency_p50_ms",
  "latency_p95_ms",
  "first_token_p50_ms",
  "first_token_p95_ms",
] as const;
export type UsageMeasure = (typeof usageMeasures)[number];

/** Sort orders of usage rows. */
export const usageSorts = bothWays(
  ...(["cost_usd", "requests", "tokens", "cache_read_share", "failed_requests", "error_rate"] as const),
  ...(["cache_saved_usd", "reasoning_tokens", "reasoning_share"] as const),
  ...(["request_latency_p50_ms", "request_latency_p95_ms"] as const),
  ...(["request_first_token_p50_ms", "request_first_token_p95_ms", "label"] as const),
);
export type UsageSort = (typeof usageSorts)[number];

/** Sort orders of the list of requests. `-`: descending. */
export const requestSorts = ["-at", "cost_usd", "-cost_usd", "total_ms", "-total_ms", "tokens", "-tokens"] as const;
export type RequestSort = (typeof requestSorts)[number];

/** Sort orders of the list of sessions. */
export const sessionSorts = bothWays("last_at", "cost_usd", "turns", "errors");
export type SessionSort = (typeof sessionSorts)[number];

/** The most agents in one answer. */
export const sessionAgentsMax = 100;

/** The most tool names of a request or session. */
export const toolNamesMax = 50;

/** How the session of a request was recognized, most reliable first. */
export const sessionSources = ["header", "agent", "chain", "prefix"] as const;

/** The most keys that one call can change. */
export const keysChangedMax = 200;

/** Sort orders of lists; their columns in the console have the same names. */
export const keySorts = bothWays(
  "name",
  "workspace",
  "group",
  "state",
  "budget",
  "spend",
  "expires",
  "created",
  "used",
);
export type KeySort = (typeof keySorts)[number];
export const userSorts = bothWays("who", "role", "spend", "made", "seen");
export type UserSort = (typeof userSorts)[number];
export const workspaceSorts = bothWays("name", "state", "keys", "groups", "members", "budget");
export type WorkspaceSort = (typeof workspaceSorts)[number];

/** Each order, and the same prefixed with `-` for descending. */
function bothWays<Name extends string>(...names: readonly Name[]): readonly (Name | `-${Name}`)[] {
  return names.flatMap((name) => [name, `-${name}` as const]);
}

/** Why a key may or may not call a model. If several apply, the first in this order is returned. */
export const accessReasons = [
  "yes",
  "workspace_disabled",
  "workspace_models",
  "group_models",
  "key_models",
  "key_disabled",
  "key_expired",
  "key_revoked",
  "key_without_secret",
  "model_not_priced",
  "no_deployment",
] as const;
export type AccessReason = (typeof accessReasons)[number];

/** What `attention.list` checks. Its findings of one severity are in this order. */
export const attentionChecks = [
  "gateway",
  "providers",
  "errors",
  "budgets",
  "certificates",
  "keys",
  "requests",
  "tokens",
  "prices",
  "webhooks",
  "alerts",
] as const;
export type AttentionCheck = (typeof attentionChecks)[number];

/** Most severe first. */
export const attentionSeverities = ["critical", "warning", "notice"] as const;

/** How often a scheduled report is sent, and the period that it covers. */
export const reportIntervals = ["day", "week", "month"] as const;
export type ReportInterval = (typeof reportIntervals)[number];
export const reportPeriods = ["interval", "view"] as const;
export type ReportPeriod = (typeof reportPeriods)[number];

/** Checks of captured requests by the guardrails of a rehearsal. */
export const rehearsedChecksMax = 20_000;
/** Requests with findings that a guardrail lists. */
export const rehearsedFindingsMax = 50;
