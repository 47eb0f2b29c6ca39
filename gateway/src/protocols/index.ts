/**
 * protocols: the dialects, as pure functions. One folder each: request, reply, stream, usage, error.
 *
 * wire   reads what governs a request, and changes only the model's name in its bytes. Answers are read for usage and errors.
 * tap    a wire's reader of one stream. Bytes go in and out; it counts on the way.
 * codec  turns a request or answer into the neutral form and back. Used only when caller and upstream speak different
 *        dialects. What it cannot carry becomes a warning.
 */

export { answerEvents } from "./answer-events.ts";
export { type FieldPlaces, findFields } from "./anthropic-messages/find-fields.ts";
export {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  isVendorVersion,
  isVersionDate,
  requireVendorVersion,
  threadLeftOut,
} from "./anthropic-messages/index.ts";
export { AnyTap, nothingTold } from "./any-wire.ts";
export { asBuffer, type Edit, splice } from "./bytes.ts";
export { type CallEndpointId, callerSide } from "./caller-side.ts";
export { minimaxPlanUsedUp, minimaxStatus } from "./choice-error.ts";
export type {
  AnswerContext,
  AnswerSource,
  CallerCodec,
  DialectTraits,
  EventReader,
  EventWriter,
  NewId,
  TurnTarget,
  UpstreamCodec,
  Warn,
} from "./codec.ts";
export { conversationFingerprint } from "./conversation-prefix.ts";
export type {
  Dialect,
  FormFacts,
  Listener,
  NamedModel,
  OtherUsage,
  PathFacts,
  ReplyFacts,
  RequestFacts,
  StreamTap,
  UpstreamRefusal,
  UsageReading,
  Wire,
} from "./dialect.ts";
export { editBody } from "./edit-body.ts";
export {
  answerEmbeddings,
  type EmbeddingSides,
  inputUsage,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  writeEmbeddings,
} from "./embeddings/index.ts";
export { errorInReply, failedResponse } from "./error-event.ts";
export { eventLines } from "./event-lines.ts";
export { setMediaAside } from "./event-media.ts";
export { createFormBody } from "./form-body.ts";
export { readFormContent } from "./form-content.ts";
export { FormReader } from "./form-reader.ts";
export { gemini, geminiCodec, geminiImageCodec, geminiWire, innerRequest } from "./gemini/index.ts";
export { type Governing, governBody, type MemberRules } from "./govern-body.ts";
export { choosingMembers, fold, GovernedNames } from "./governed-names.ts";
export { holdsSeals } from "./held-seals.ts";
export { inlineMedia, noMedia } from "./inline-media.ts";
export { JsonInvalid, readSpan, type ScanLimits, scanObject } from "./json-scan.ts";
export { skimObject, skimValue } from "./json-skim.ts";
export { isAwsEventStreamType, isEventStreamType, isJsonType } from "./json-type.ts";
export { arrayOf, countOf, isObject, type JsonObject, numberOf, objectOf, parseObject, textOf } from "./json-value.ts";
export { withoutMark } from "./line-end.ts";
export { MediaRoom } from "./media-room.ts";
export { mayNameMedia, mediaUrlsIn, withMediaInPlace } from "./media-urls.ts";
export { type FormEvent, MultipartScanner } from "./multipart-scanner.ts";
export { type MultipartType, readMultipartType } from "./multipart-type.ts";
export type { NamedObject } from "./named-objects.ts";
export { smallestRequest } from "./native-wires.ts";
export { openaiChat, openaiChatCodec, openaiChatWire, searchesByOptions } from "./openai-chat/index.ts";
export { CompletionEventWriter, writeCompletion } from "./openai-completions/events.ts";
export {
  ImagesFormReader,
  imagesWire,
  readImageForm,
  readImageTurn,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
} from "./openai-images/index.ts";
export { CreateFrame, readClientFrame, warmedEvents } from "./openai-responses/create-frame.ts";
export {
  openaiResponses,
  openaiResponsesCodec,
  openaiResponsesWire,
} from "./openai-responses/index.ts";
export { TranscriptionFormReader } from "./openai-transcriptions/form.ts";
export {
  formMembers,
  frameSize,
  type RemixedVideo,
  type RenamedMembers,
  readVideoMembers,
  videoObject,
} from "./openai-videos/index.ts";
export { patchedPieces, patchedRequest, patchesAtOnce } from "./patched-request.ts";
export { cacheWrites } from "./prompt-cache.ts";
export { readServedHeaders, withServed } from "./read-served.ts";
export { type Effort, efforts, type ReasoningTraits } from "./reasoning-traits.ts";
export { refusalShape } from "./refusal-shape.ts";
export { parseSmall, refuseCrowd } from "./request-members.ts";
export { sealText } from "./seal-text.ts";
export { eventData, SseEvents } from "./sse-events.ts";
export { tapAwsEventStream } from "./tap-aws-event-stream.ts";
export { OwnToolNames } from "./tool-names.ts";
export { readOutline, writeOutline } from "./turn-outline.ts";
export { unsealBody } from "./unseal-body.ts";
export { objectBounds } from "./unseen-costs.ts";
export { brokenAnswer, notCarried, unbroken } from "./upstream-broke.ts";
export { refusalReader, upstreamSide } from "./upstream-side.ts";
export type { UsageConvention } from "./usage-convention.ts";
