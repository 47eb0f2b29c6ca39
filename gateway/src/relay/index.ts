/**
 * relay: the walk of one call. A plan is made, a permit taken, the attempt written ahead and sent; a failure before
 * the first event goes to the next deployment, after it the caller is told in its own dialect. Every attempt is
 * settled exactly once, before its last bytes leave. When the journal cannot be written nothing is sent.
 */
export type { FailedAttempt } from "./attempt/failed-attempt.ts";
export { fetchBytes } from "./attempt/inline-media.ts";
export { serves } from "./attempt/lane-match.ts";
export { upstreamWords } from "./attempt/upstream-words.ts";
export type { Call, CallResult, Delivery, EndpointProtocol } from "./call.ts";
export { explanationOf } from "./explain-call.ts";
export { noSuchProvider, type PassedPlace } from "./pass-through/passed-place.ts";
export { Relay } from "./relay.ts";
