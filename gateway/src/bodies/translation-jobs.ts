import {
  bounds,
  type MediaPart,
  type RequestedEmbedding,
  type RequestedImages,
  type Turn,
  type TurnMessage,
  type TurnPart,
  type WireDialectId,
} from "#core/index.ts";
import {
  answerEmbeddings,
  answerEvents,
  type CallEndpointId,
  CallerToolNames,
  type DialectTraits,
  type EmbeddingSides,
  endpointProtocols,
  geminiImageCodec,
  InlineMediaBudget,
  type NewId,
  readFormContent,
  readImageTurn,
  readOutline,
  refuseTooManyValues,
  requireFinishedAnswer,
  type UsageConvention,
  upstreamSide,
  writeEmbeddings,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
  writeOutline,
} from "#protocols/index.ts";
import { type CarriedMedia, carriedMedia } from "./carried-media.ts";

/** Limits the values of a translated body, because each becomes objects twice. */
const translatedValuesMax = 200_000;

/**
 * Addresses of pictures and documents in the turn that its upstream does not fetch, each once. `fetchesUrls` overrides the rule of the
 * dialect for this upstream.
 */
export function addressesIn(turn: Turn, fetchesUrls: boolean | undefined, dialect: ReadsAddresses): readonly string[] {
  const { namedMedia = null } = dialect;
  const takesUrl = fetchesUrls === undefined ? dialect.takesUrl : fetchesUrls ? null : none;
  if (takesUrl === null && namedMedia === null) return [];
  const urls = new Set<string>();
  const takes = ({ kind }: MediaPart, url: string): boolean =>
    (takesUrl?.(url) ?? true) && (namedMedia?.has(kind) ?? true);
  for (const { parts } of turn.messages) for (const part of parts) collect(part, takes, urls);
  return [...urls];
}

/** The addresses that a dialect's own vendor fetches. */
interface ReadsAddresses {
  /** null: all addresses. */
  readonly takesUrl: ((url: string) => boolean) | null;
  /** Absent: media of all kinds. */
  readonly namedMedia?: ReadonlySet<MediaPart["kind"]>;
}

/** The turn with addresses replaced by their media in base64. Throws Failure invalid_request if there is too much. */
export function withMedia(
  turn: Turn,
  found: ReadonlyMap<string, { readonly mediaType: string; readonly data: string }>,
): Turn {
  const room = new InlineMediaBudget();
  const put = <Part extends TurnPart>(part: Part): Part => {
    if (part.kind === "tool-result") return { ...part, parts: part.parts.map(put) };
    if (!isMedia(part) || part.source.kind !== "url") return part;
    const media = found.get(part.source.url);
    if (media === undefined) return part;
    room.take(media.data.length);
    return { ...part, source: { kind: "base64", ...media } };
  };
  const inlined = (message: TurnMessage): TurnMessage => ({ ...message, parts: message.parts.map(put) });
  return { ...turn, messages: turn.messages.map(inlined) };
}

function collect(part: TurnPart, takes: (part: MediaPart, url: string) => boolean, into: Set<string>): void {
  if (part.kind === "tool-result") {
    for (const inner of part.parts) collect(inner, takes, into);
    return;
  }
  if (!isMedia(part) || part.source.kind !== "url") return;
  const { url } = part.source;
  if (/^https?:\/\//i.test(url) && !takes(part, url)) into.add(url);
}

function isMedia(part: TurnPart): part is MediaPart {
  return "source" in part;
}

const none = (): boolean => false;

/** For every job. */
export interface JobContext {
  readonly newId: NewId;
  /** Takes warnings for the caller. */
  readonly warn: (warning: string) => void;
}

/** The two sides of a translated call. */
interface Sides {
  readonly endpoint: CallEndpointId;
  readonly dialect: WireDialectId;
  /** Our id of the account. */
  readonly account: string;
}

interface TranslateAsk extends Sides {
  readonly model: string;
  readonly stream: boolean;
  readonly upstreamModel: string;
  readonly traits: DialectTraits;
  /** null: addresses were not fetched yet. */
  readonly media: readonly CarriedMedia[] | null;
}

/** Makes the body for an upstream of another dialect; null if addresses have to be fetched first. */
export function translateTurn(
  body: Uint8Array,
  ask: TranslateAsk,
  beside: readonly Uint8Array[],
  { newId, warn }: JobContext,
) {
  const caller = endpointProtocols[ask.endpoint].codec;
  const side = upstreamSide(ask.dialect);
  const { codec: upstream } = side;
  if (caller === null || upstream === null) throw new Error("No translation between these dialects.");
  refuseTooManyValues(body, { values: translatedValuesMax, members: bounds.jsonMembersMax });
  const read = caller.readTurn(body, ask, warn);
  const outline = writeOutline(read);
  const fetch = ask.media === null ? addressesIn(read, ask.traits.fetchesUrls, side) : [];
  if (fetch.length > 0) return { made: null, answer: { fetch, outline } };
  const turn = ask.media === null ? read : withMedia(read, carriedMedia(ask.media, beside));
  const { upstreamModel, account, traits } = ask;
  const made = upstream.writeTurn(turn, { upstreamModel, account, traits, newId }, warn);
  return { made, answer: { fetch, outline } };
}

interface AnswerAsk extends Sides {
  /** See writeOutline. */
  readonly outline: string;
  readonly model: string;
  readonly createdAt: number;
  readonly wantsUsage: boolean;
  readonly stream: boolean;
  readonly usage: UsageConvention | undefined;
}

/** Makes the caller's answer of a whole reply of another dialect. */
export function answerTurn(
  reply: Uint8Array,
  ask: AnswerAsk,
  _beside: readonly Uint8Array[],
  { newId, warn }: JobContext,
) {
  const caller = endpointProtocols[ask.endpoint].codec;
  const { codec: upstream } = upstreamSide(ask.dialect);
  if (caller === null || upstream === null) throw new Error("No translation between these dialects.");
  const { account, model, createdAt, wantsUsage } = ask;
  const context = { turn: readOutline(ask.outline), model, account, createdAt, wantsUsage, newId, warn };
  const read = requireFinishedAnswer(upstream.readAnswer(reply, { account, newId, warn, usage: ask.usage }));
  const answer = new CallerToolNames(context.turn.tools).answer(read);
  if (!ask.stream) return { made: caller.writeAnswer(answer, context), answer: null };
  const writer = caller.writeEvents(context);
  let text = "";
  for (const event of answerEvents(answer)) text += writer.write(event);
  return { made: encoder.encode(text), answer: null };
}

const encoder = new TextEncoder();

interface ImagesAsk {
  /** A chat model that makes pictures (Gemini); else a vendor without forms. */
  readonly isChatModel: boolean;
  /** The form's boundary; null: the body is JSON. */
  readonly boundary: string | null;
  readonly upstreamModel: string;
}

/** Makes the body for an upstream with another request for pictures. */
export function writeImages(
  body: Uint8Array,
  { isChatModel, boundary, upstreamModel }: ImagesAsk,
  _beside: readonly Uint8Array[],
  { warn }: JobContext,
) {
  const content = boundary === null ? body : readFormContent(body, boundary);
  if (!isChatModel) {
    const made = writeImageJson(content, upstreamModel, warn);
    const requested: RequestedImages = { size: null, quality: null, background: null };
    return { made, answer: requested };
  }
  const turn = readImageTurn(content, warn);
  const { size, quality, background } = turn;
  const made = geminiImageCodec.writeImageTurn(turn, warn);
  const requested: RequestedImages = { size, quality, background };
  return { made, answer: requested };
}

interface ImageAnswerAsk {
  readonly createdAt: number;
  readonly stream: "image_generation" | "image_edit" | null;
  readonly requested: RequestedImages;
}

/** Makes the caller's answer from the pictures of a chat model. */
export function answerImages(reply: Uint8Array, { createdAt, stream, requested }: ImageAnswerAsk) {
  const read = geminiImageCodec.readImageAnswer(reply);
  const made =
    stream === null ? writeImageAnswer(read, createdAt) : writeImageEvents(read, createdAt, stream, requested);
  return { made, answer: { images: read.images.length } };
}

/** Makes the body for an upstream with another request for vectors. */
export function writeVectorsRequest(
  body: Uint8Array,
  ask: EmbeddingSides & { readonly upstreamModel: string },
  _beside: readonly Uint8Array[],
  { warn }: JobContext,
) {
  const { made, requested } = writeEmbeddings(body, ask, warn);
  return { made, answer: requested };
}

type VectorsAsk = EmbeddingSides & RequestedEmbedding & { readonly model: string; readonly inputTokens: number };

/** Makes the caller's answer from such an upstream's. */
export function answerVectors(reply: Uint8Array, ask: VectorsAsk) {
  return { made: answerEmbeddings(reply, ask, ask), answer: null };
}
