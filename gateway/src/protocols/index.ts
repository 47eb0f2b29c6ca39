/**
 * protocols: the dialects, as pure functions. One folder each: request, reply, stream, usage, error; `native/` has the dialects that are
 * never translated. Shared: `json/` (one cursor over the bytes), `form/`, `stream/`, `request/`, `turn/` (translation),
 * `usage/` and `errors/`.
 *
 * wire   reads what governs a request, and changes only the model's name in its bytes. Answers are read for usage and errors.
 * tap    a wire's reader of one stream. Bytes go in and out; it counts on the way.
 * codec  turns a request or answer into the neutral form and back. Used only when caller and upstream speak different
 *        dialects. Fields that it cannot translate become warnings.
 */

export { type FieldPlaces, findFields } from "./anthropic-messages/find-fields.ts";
export {
  anthropicMessages,
  anthropicMessagesCodec,
  anthropicMessagesWire,
  bedrockMessages,
  type CloudAsk,
  isVendorVersion,
  isVersionDate,
  openCloudMessages,
  requireVendorVersion,
  threadLeftOut,
} from "./anthropic-messages/index.ts";
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
export type {
  Dialect,
  FormFacts,
  NamedModel,
  OtherUsage,
  PathFacts,
  ReplyFacts,
  ReplyReader,
  RequestFacts,
  StreamTap,
  UpstreamRefusal,
  UsageReading,
} from "./dialect.ts";
export {
  answerEmbeddings,
  type EmbeddingSides,
  inputUsage,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  writeEmbeddings,
} from "./embeddings/index.ts";
export { errorInReply, failedResponse } from "./errors/error-event.ts";
export {
  answerEndedInError,
  minimaxPlanUsedUp,
  minimaxStatus,
  requireFinishedAnswer,
  unsupportedReply,
} from "./errors/upstream-errors.ts";
export {
  isAwsEventStreamType,
  isEventStreamType,
  isJsonType,
  type MultipartType,
  readMultipartType,
} from "./form/content-type.ts";
export { createFormBody, splicedForm } from "./form/form-body.ts";
export { readFormContent } from "./form/form-content.ts";
export { FormReader } from "./form/form-reader.ts";
export { type FormEvent, MultipartScanner } from "./form/multipart-scanner.ts";
export { gemini, geminiCodec, geminiImageCodec, geminiWire, innerRequest } from "./gemini/index.ts";
export { isAgent } from "./gemini-interactions/agents.ts";
export { geminiInteractions } from "./gemini-interactions/index.ts";
export { asBuffer, type Edit, splice } from "./json/bytes.ts";
export { editBody } from "./json/edit.ts";
export { JsonInvalid, readSpan, scanObject } from "./json/scan.ts";
export { skimArray, skimObject, skimValue } from "./json/skim.ts";
export {
  arrayOf,
  countOf,
  isObject,
  type JsonObject,
  numberOf,
  objectOf,
  parseFirst,
  parseObject,
  textOf,
} from "./json/value.ts";
export { CompletionEventWriter, writeCompletion } from "./native/completions.ts";
export { TranscriptionFormReader } from "./native/transcriptions.ts";
export { openaiChat, openaiChatCodec, openaiChatWire, searchesByOptions } from "./openai-chat/index.ts";
export {
  ImagesFormReader,
  imagesWire,
  readImageTurn,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
} from "./openai-images/index.ts";
export { CreateFrame, readClientFrame, warmUpEvents } from "./openai-responses/create-frame.ts";
export {
  openaiResponses,
  openaiResponsesCodec,
  openaiResponsesWire,
} from "./openai-responses/index.ts";
export {
  formMembers,
  frameSize,
  type RemixedVideo,
  type RenamedMembers,
  readVideoMembers,
  videoObject,
} from "./openai-videos/index.ts";
export { noReplyFacts, OuterTap, RawTap } from "./raw-wire.ts";
export {
  canPatchQuickly,
  type GovernedMembers,
  governBody,
  type MemberRules,
  patchRequest,
  patchRequestPieces,
} from "./request/change-body.ts";
export { type ConversationSpans, conversationFingerprint, isLongPrompt } from "./request/conversation-prefix.ts";
export { mayHoldForeignSeals, removeForeignSeals } from "./request/foreign-seals.ts";
export {
  foldCase,
  GovernedNames,
  governedMembers,
  tierMembers,
} from "./request/governed-names.ts";
export {
  InlineMediaBudget,
  inlineMediaUrls,
  mayHoldMediaUrls,
  measureInlineMedia,
  mediaUrlsIn,
  noInlineMedia,
} from "./request/media.ts";
export { parseBounded, refuseTooManyValues } from "./request/members.ts";
export type { NamedObject } from "./request/named-objects.ts";
export {
  type CallEndpointId,
  type EndpointProtocol,
  endpointProtocols,
  readRefusal,
  refusalShape,
  smallestRequest,
  upstreamSide,
} from "./sides.ts";
export type { AwsEventWriter } from "./stream/aws-event-stream.ts";
export { awsEventWriter, tapAwsEventStream } from "./stream/aws-framing.ts";
export { setMediaAside } from "./stream/event-media.ts";
export {
  eventData,
  eventLines,
  SseEvents,
  withoutByteOrderMark,
} from "./stream/sse-events.ts";
export { encodedText, isUtf8Text } from "./text/encoded-text.ts";
export { textsOf } from "./text/index.ts";
export {
  plainSpan,
  type ReadTexts,
  readTexts,
  stringMember,
  type TextFilter,
  type TextSpan,
} from "./text/read-texts.ts";
export type { StreamShape } from "./text/shape.ts";
export { answerEvents } from "./turn/answer-events.ts";
export { cacheWrites } from "./turn/prompt-cache.ts";
export { type Effort, efforts, type ReasoningTraits } from "./turn/reasoning-traits.ts";
export { sealText } from "./turn/seal-text.ts";
export { CallerToolNames } from "./turn/tool-calls.ts";
export { readOutline, writeOutline } from "./turn/turn-outline.ts";
export { readServedHeaders, withServed } from "./usage/read-served.ts";
export type { UsageConvention } from "./usage/reading.ts";
export { objectBounds } from "./usage/unseen-costs.ts";
