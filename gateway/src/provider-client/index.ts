/**
 * provider-client: the one way to a provider's account.
 *
 * draft  a request as the kind describes it. It gets the account's credential here, is sent, and its answer is read within
 *        bounds.
 * token  a short-lived credential. It is fetched once and shared.
 * probe  a small request that tries an account.
 *
 * Promises: an account has one token at a time, whichever part of the gateway asks. A draft is sent once; nothing is retried
 * here. Keys that a refusal quotes are removed. When no new token can be had, the last one is used until it ends; then the
 * call fails with the issuer's reason.
 */
export type { RequestClocks } from "./outbound-request.ts";
export { isGood, ProviderClient, type WholeAnswer } from "./provider-client.ts";
export { ProviderProbe } from "./provider-probe.ts";
