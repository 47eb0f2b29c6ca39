/**
 * relay: the walk of one call. A plan is made, a permit taken, the attempt written ahead and sent; a failure before
 * the first event goes to the next deployment, after it the caller is told in its own dialect. Every attempt is
 * settled exactly once, before its last bytes leave. When the journal cannot be written nothing is sent.
 */
export { AccountTokens } from "./account-tokens.ts";
export type { FailedAttempt } from "./attempt/failed-attempt.ts";
export { type FetchedBytes, fetchBytes } from "./attempt/inline-media.ts";
export { servedEndpoints, serves } from "./attempt/lane-match.ts";
export { upstreamWords } from "./attempt/upstream-words.ts";
export type { Call, CallResult, Delivery, EndpointProtocol, Refusal } from "./call.ts";
export type { RelayOptions } from "./dependencies.ts";
export { explanationOf } from "./explain-call.ts";
export type { PassedCall } from "./pass-through/pass-through.ts";
export { noSuchProvider, type PassedPlace } from "./pass-through/passed-place.ts";
export { type ListProbe, type Probe, ProviderProbe } from "./provider-probe.ts";
export { Relay } from "./relay.ts";
export type { StoredResponseCall } from "./stored-responses/stored-response-call.ts";
