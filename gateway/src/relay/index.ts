/**
 * relay: one call, from the plan to the last byte.
 *
 * A plan is made and a permit is taken. The attempt is written to the journal, then sent. Before the first content of a stream a
 * failure may go to the next deployment. After it nothing is retried: the caller gets an error in its dialect.
 *
 * attempt           one try against one deployment. It ends in an answer that has begun, or in a Failure.
 * translation       caller and upstream speak different dialects.
 * pass-through      a call for a provider's own API.
 * stored responses  a response that an upstream stores, and that is requested later.
 *
 * Promises: every attempt is settled exactly once, before its last bytes leave. When the journal cannot be written, nothing
 * is sent.
 */

export { secretsOf } from "#providers/index.ts";
export { type MeasuredUsage, measuredReply } from "./attempt/attempt-money.ts";
export { fetchBytes } from "./attempt/body-work.ts";
export type { FailedAttempt } from "./attempt/call-tally.ts";
export { passes, serves } from "./attempt/lane-match.ts";
export { pricesAt, usedByOthers } from "./attempt/priced-usage.ts";
export { upstreamWords } from "./attempt/upstream-refusal.ts";
export { type BatchPlace, batchBodyOf, batchPlaceOf } from "./batch-rows.ts";
export type {
  BackgroundResponses,
  Call,
  CallListener,
  CallResult,
  GuardrailServices,
} from "./call.ts";
export {
  noSuchProvider,
  type PassThroughField,
  type PassThroughRoute,
  passThroughPrice,
} from "./pass-through/pass-through-call.ts";
export { uploadUrlHeader } from "./pass-through/pass-through-objects.ts";
export { explanationOf } from "./refusals.ts";
export { Relay } from "./relay.ts";
export { storedResponseDraft } from "./stored-responses/stored-responses.ts";
export { type ObjectEndpoint, objectCollections, objectEndpoints } from "./vendor-objects/object-endpoints.ts";
export { objectPrice } from "./vendor-objects/object-price.ts";
export { StorageFees } from "./vendor-objects/storage-fees.ts";
