/**
 * provider-client: sends requests to providers' accounts.
 *
 * draft  a request as its provider type builds it. Here it gets the account's credential, is sent, and its answer is read
 * within bounds.
 * token  a short-lived credential, fetched once and shared.
 * probe  a small request that tests an account.
 *
 * Promises: an account has one token at a time. A draft is sent once; nothing is retried here. Keys in refusals are
 * redacted. If a token cannot be renewed, the last one is used until it expires; then the call fails with the issuer's
 * reason.
 */
export type { RequestClocks } from "./outbound-request.ts";
export { isGood, ProviderClient, type WholeAnswer } from "./provider-client.ts";
export { ProviderProbe } from "./provider-probe.ts";
export { SecretReferences } from "./secret-references.ts";
