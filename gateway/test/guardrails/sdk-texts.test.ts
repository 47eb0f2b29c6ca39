import { beforeAll, expect, test } from "bun:test";
import type { WireDialectId } from "#core/index.ts";
import { readTexts, textsOf } from "#protocols/index.ts";
import { membersOf, type Occurrence } from "../sdk-members/members.ts";
import { defaultValues, withValue } from "../translation/fields/samples.ts";
import { readVendorTypes, type Shape } from "../translation/fields/vendor-types.ts";

/**
 * Every member of the vendors' SDKs that can hold a string counts as text, except these. A release with a new member needs no entry: an
 * unknown member is text.
 */
const notTexts: Readonly<Record<string, string>> = {
  "names of models, roles and formats, and times": `BetaMessage.model Blob_2.mimeType ChatCompletion.model ChatCompletion.system_fingerprint
    ChatCompletionChunk.model ChatCompletionChunk.system_fingerprint ChatCompletionCreateParamsNonStreaming.model
    ChatCompletionCreateParamsStreaming.model Content.role FileData.mimeType GenerateContentResponse.createTime
    GenerateContentResponse.modelVersion GenerationConfig.responseMimeType MessageCreateParamsNonStreaming.model
    MessageCreateParamsStreaming.model Response.model ResponseCreateParamsNonStreaming.model
    ResponseCreateParamsStreaming.model`,
  "names, types, states and numbers of interactions: their types allow any string": `AllowedTools.mode AudioDelta.mime_type AudioResponseFormat_2.mime_type
    CreateModelInteraction.model
    CreateModelInteraction.response_mime_type CreateModelInteraction.response_modalities
    CreateModelInteraction.service_tier DocumentDelta.mime_type ErrorEvent_2.event_id
    GenerationConfig_2.thinking_level GenerationConfig_2.thinking_summaries GenerationConfig_2.tool_choice
    GoogleSearchCallStep.search_type ImageDelta.mime_type ImageDelta.resolution ImageResponseFormat_2.mime_type
    InteractionCompletedEvent.event_id InteractionCreatedEvent.event_id InteractionSseEventInteraction.agent
    InteractionSseEventInteraction.created
    InteractionSseEventInteraction.model InteractionSseEventInteraction.object
    InteractionSseEventInteraction.service_tier InteractionSseEventInteraction.status
    InteractionSseEventInteraction.updated
    InteractionStatusUpdate.event_id InteractionStatusUpdate.status InteractionsAnswer.agent
    InteractionsAnswer.created InteractionsAnswer.model
    InteractionsAnswer.response_mime_type InteractionsAnswer.response_modalities InteractionsAnswer.service_tier
    InteractionsAnswer.status InteractionsAnswer.updated RetrievalCallDelta.retrieval_type
    RetrievalCallStep.retrieval_type SafetySetting_2.method SafetySetting_2.threshold SafetySetting_2.type
    StepDelta.event_id StepStart.event_id StepStop.event_id TextResponseFormat_2.mime_type VideoDelta.mime_type
    VideoDelta.resolution event_type`,
  "encrypted, signed or random": `BetaAdvisorRedactedResultBlock.encrypted_content BetaAdvisorRedactedResultBlockParam.encrypted_content
    BetaCitationsWebSearchResultLocation.encrypted_index BetaCompactionBlock.encrypted_content
    BetaCompactionBlock.signature BetaCompactionBlockParam.encrypted_content BetaCompactionBlockParam.signature
    BetaCompactionContentBlockDelta.encrypted_content BetaEncryptedCodeExecutionResultBlock.encrypted_stdout
    BetaEncryptedCodeExecutionResultBlockParam.encrypted_stdout BetaRedactedThinkingBlock.data
    BetaRedactedThinkingBlockParam.data BetaSignatureDelta.signature BetaThinkingBlock.signature
    BetaThinkingBlockParam.signature BetaWebSearchResultBlock.encrypted_content
    BetaWebSearchResultBlockParam.encrypted_content ChatCompletionChunk.obfuscation Part.thoughtSignature
    Program.fingerprint ResponseCompactionItem.encrypted_content ResponseCompactionItemParam.encrypted_content
    ResponseReasoningItem.encrypted_content ResponseShellCallCommandDeltaEvent.obfuscation
    CreateModelInteraction.continuation_token InteractionSseEventInteraction.continuation_token InteractionStatusUpdate.continuation_token InteractionsAnswer.continuation_token
    CodeExecutionCallDelta.signature CodeExecutionCallStep.signature CodeExecutionResultDelta.signature
    CodeExecutionResultStep.signature FileSearchCallDelta.signature FileSearchCallStep.signature
    FileSearchResultDelta.signature FileSearchResultStep.signature GoogleMapsCallDelta.signature
    GoogleMapsCallStep.signature GoogleMapsResultDelta.signature GoogleMapsResultStep.signature
    GoogleSearchCallDelta.signature GoogleSearchCallStep.signature GoogleSearchResultDelta.signature
    GoogleSearchResultStep.signature ProcessingCallDelta.signature ProcessingCallStep.signature
    ProcessingResultDelta.signature ProcessingResultStep.signature RetrievalCallDelta.signature
    RetrievalCallStep.signature RetrievalResultDelta.signature RetrievalResultStep.signature
    ThoughtSignatureDelta.signature ThoughtStep.signature URLContextCallDelta.signature
    URLContextCallStep.signature URLContextResultDelta.signature URLContextResultStep.signature`,
  "media: read if it is a text file": `Audio.data BetaBase64ImageSource.data BetaBase64PDFSource.data Blob_2.data ChatCompletionAudio.data
    ImageGenerationCall.result InputAudio.data ResponseAudioDeltaEvent.delta
    ResponseImageGenCallPartialImageEvent.partial_image_b64 AudioDelta.data DocumentDelta.data ImageDelta.data VideoDelta.data`,
  "repeats a text token by token: cleared if that text is changed": `ChatCompletionTokenLogprob.token Logprob.token LogprobsResultCandidate.token TopLogprob.token`,
  "one of a vendor's fixed words": `ChatCompletionCreateParamsNonStreaming.tool_choice ChatCompletionCreateParamsStreaming.tool_choice
    Response.tool_choice ResponseCreateParamsNonStreaming.tool_choice ResponseCreateParamsStreaming.tool_choice
    blockReason category detail effort finishReason finish_reason format generate_summary include language
    mediaResolution media_type method modalities nullValue object outcome phase prompt_cache_retention reason
    reasoning_effort responseModalities role search_context_size service_tier status stop_reason summary
    thinkingLevel threshold truncation type verbosity`,
};

const dialects: Readonly<Record<string, WireDialectId>> = {
  Chat: "openai-chat",
  Responses: "openai-responses",
  Messages: "anthropic-messages",
  EarlierMessages: "anthropic-messages",
  Gemini: "gemini",
  Interactions: "gemini-interactions",
};

const canary = "a canary";

let types: ReadonlyMap<string, Shape>;
beforeAll(async () => {
  types = await readVendorTypes();
});

test("reads every string of the vendors' types as text, except the listed ones", () => {
  const unread = new Set([...types].flatMap(([root, shape]) => unreadMembers(root, shape)));
  const listed = Object.values(notTexts).flatMap((names) => names.split(/\s+/));
  expect([...unread].filter((name) => !listed.includes(name)).toSorted()).toEqual([]);
  expect(listed.filter((name) => !unread.has(name))).toEqual([]);
});

/** Members with strings that are not read, as `Type.member`, or `member` for fixed words. */
function unreadMembers(root: string, shape: Shape): readonly string[] {
  const [, vendor = "", side] = /^(.*)(Request|Answer|Event)$/.exec(root) ?? [];
  const { request, answer, stream } = textsOf(dialects[vendor] ?? "any");
  const table = side === "Request" ? request : side === "Answer" ? answer : stream.event;
  const labels = side === "Event" ? stream.labels : [];
  return membersOf(root, shape).flatMap((one: Occurrence) => {
    const value = valueWith(one.member.of);
    if (value === undefined) return [];
    const bytes = Buffer.from(JSON.stringify(withValue(undefined, one.steps, value, defaultValues)));
    if (!bytes.includes(canary)) throw new Error(`no sample of ${root} has ${one.member.name}`);
    const { texts } = readTexts(bytes, table, { labels });
    if (texts.some(({ start, end }) => bytes.subarray(start, end).includes(canary))) return [];
    return [isFixed(one.member.of) ? one.member.name : `${one.owner}.${one.member.name}`];
  });
}

/** A value with a string in it; undefined: the type has none. */
function valueWith(shape: Shape, above: readonly Shape[] = []): unknown {
  if (above.includes(shape)) return undefined;
  if (shape.kind === "string" || (shape.kind === "scalar" && shape.values.some((one) => typeof one === "string"))) {
    return canary;
  }
  if (shape.kind === "any" || (shape.kind === "object" && shape.members.length === 0)) return { [canary]: [canary] };
  if (shape.kind === "union") {
    return shape.of.map((one) => valueWith(one, [...above, shape])).find((value) => value !== undefined);
  }
  const item = shape.kind === "array" ? valueWith(shape.of, [...above, shape]) : undefined;
  return item === undefined ? undefined : [item];
}

function isFixed(shape: Shape): boolean {
  if (shape.kind === "array") return isFixed(shape.of);
  return shape.kind === "scalar" || (shape.kind === "union" && shape.of.every(isFixed));
}
