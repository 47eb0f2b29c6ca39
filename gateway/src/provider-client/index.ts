/**
 * provider-client: how this gateway speaks to an account of a provider. A *draft* is a request as a kind describes it; here
 * it gets the account's credential, is sent, and its answer is read within bounds. Short-lived *tokens* are had here too.
 *
 * Promises: one account has one token at a time, whichever part of the gateway asks and however often the catalog is read
 * anew. A draft is sent once; nothing here tries again. A refusal is read without the keys of the account that it may quote.
 * When no token can be had, the last one serves until its end; after it the call fails with what the issuer said.
 */
export type { RequestClocks } from "./outbound-request.ts";
export { isGood, ProviderClient, type WholeAnswer } from "./provider-client.ts";
export { ProviderProbe } from "./provider-probe.ts";
