/**
 * relay: the walk of one call. A plan is made, a permit taken, the attempt written ahead and sent; a failure before
 * the first event goes to the next deployment, after it the caller is told in its own dialect. Every attempt is
 * settled exactly once, before its last bytes leave. When the journal cannot be written nothing is sent.
 */
export { AccountTokens } from "./account-tokens.ts";
export type { Call, CallResult, Delivery, Refusal, Speech } from "./call.ts";
export { explanationOf } from "./explained.ts";
export type { FailedAttempt } from "./failed-attempt.ts";
export type { RelayOptions } from "./house.ts";
export { type FetchedBytes, fetchBytes } from "./inline-media.ts";
export type { KeptCall } from "./kept-call.ts";
export type { PassedCall } from "./pass-through.ts";
export { noSuchProvider, type PassedPlace } from "./passed-place.ts";
export { type ListProbe, type Probe, ProviderProbe } from "./provider-probe.ts";
export { Relay } from "./relay.ts";
export { upstreamWords } from "./upstream-words.ts";
export { servedEndpoints, serves } from "./way.ts";
