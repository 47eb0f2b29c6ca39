/** Words of the admin API that pages need as values. They stand apart from the schemas, so that a page can take them alone. */

export const keyStates = ["active", "disabled", "expired", "revoked", "without_secret"] as const;
export const captures = ["none", "headers", "bodies"] as const;
export type Capture = (typeof captures)[number];

/** What limits may stand on, widest first. A person's are those of one workspace. */
export const limitScopes = ["workspace", "group", "person", "key"] as const;

/** `pending`: a response that its upstream still makes in the background. It has no entry in the ledger yet. */
export const outcomes = ["succeeded", "failed", "cancelled", "interrupted", "rejected", "pending"] as const;

export const taskStates = ["queued", "running", "succeeded", "failed", "cancelled", "expired"] as const;

export const usageDimensions = ["none", "model", "provider", "key", "group", "workspace", "person"] as const;
export type UsageDimension = (typeof usageDimensions)[number];

/** In what order people are listed with what they used; with `-` the greatest first. */
export const peopleSorts = [
  "cost_usd",
  "-cost_usd",
  "requests",
  "-requests",
  "tokens",
  "-tokens",
  "person",
  "-person",
] as const;
export type PeopleSort = (typeof peopleSorts)[number];

/** Why a key may or may not call a model; the first of these that says no, widest first. */
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
