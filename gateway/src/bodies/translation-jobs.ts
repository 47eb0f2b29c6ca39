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
  callerSide,
  type DialectTraits,
  type EmbeddingSides,
  geminiImageCodec,
  MediaRoom,
  type NewId,
  OwnToolNames,
  readFormContent,
  readImageTurn,
  readOutline,
  refuseCrowd,
  type UsageConvention,
  unbroken,
  upstreamSide,
  writeEmbeddings,
  writeImageAnswer,
  writeImageEvents,
  writeImageJson,
  writeOutline,
} from "#protocols/index.ts";
import { type CarriedMedia, carriedMedia } from "./carried-media.ts";

/** Values of a body that is translated; each becomes objects twice. */
const translatedValuesMax = 200_000;

/**
 * Addresses of pictures and documents in the turn that its upstream does not read by itself, each once. `fetchesUrls` says
 * otherwise than the dialect of this one.
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

/** What a dialect's own vendor reads by its address. */
interface ReadsAddresses {
  /** null: all addresses. */
  readonly takesUrl: ((url: string) => boolean) | null;
  /** Absent: media of all kinds. */
  readonly namedMedia?: ReadonlySet<MediaPart["kind"]>;
}

/** The turn with what stands at addresses put in its place, in base64. Throws Failure invalid_request when it is too much. */
export function withMedia(
  turn: Turn,
  found: ReadonlyMap<string, { readonly mediaType: string; readonly data: string }>,
): Turn {
  const room = new MediaRoom();
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

/** What a job works with beside its order. */
export interface JobContext {
  readonly newId: NewId;
}

/** Who speaks on the two sides of a translated call. */
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

/** Makes the body for an upstream of another dialect; nothing where addresses have to be fetched first. */
export function translateTurn(
  body: Uint8Array,
  ask: TranslateAsk,
  beside: readonly Uint8Array[],
  { newId }: JobContext,
) {
  const caller = callerSide(ask.endpoint).codec;
  const side = upstreamSide(ask.dialect);
  const { codec: upstream } = side;
  if (caller === null || upstream === null) throw new Error("a way that cannot be gone");
  const warnings: string[] = [];
  const warn = (what: string): void => void warnings.push(what);
  refuseCrowd(body, { values: translatedValuesMax, members: bounds.jsonMembersMax });
  const read = caller.readTurn(body, ask, warn);
  const outline = writeOutline(read);
  const fetch = ask.media === null ? addressesIn(read, ask.traits.fetchesUrls, side) : [];
  if (fetch.length > 0) return { made: null, answer: { fetch, outline, warnings } };
  const turn = ask.media === null ? read : withMedia(read, carriedMedia(ask.media, beside));
  const { upstreamModel, account, traits } = ask;
  const made = upstream.writeTurn(turn, { upstreamModel, account, traits, newId }, warn);
  return { made, answer: { fetch, outline, warnings } };
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
export function answerTurn(reply: Uint8Array, ask: AnswerAsk, _beside: readonly Uint8Array[], { newId }: JobContext) {
  const caller = callerSide(ask.endpoint).codec;
  const { codec: upstream } = upstreamSide(ask.dialect);
  if (caller === null || upstream === null) throw new Error("a way that cannot be gone");
  const warnings: string[] = [];
  const { account, model, createdAt, wantsUsage } = ask;
  const warn = (what: string): void => void warnings.push(what);
  const context = { turn: readOutline(ask.outline), model, account, createdAt, wantsUsage, newId, warn };
  const read = unbroken(upstream.readAnswer(reply, { account, newId, warn, usage: ask.usage }));
  const answer = new OwnToolNames(context.turn.tools).answer(read);
  if (!ask.stream) return { made: caller.writeAnswer(answer, context), answer: { warnings } };
  const writer = caller.writeEvents(context);
  let text = "";
  for (const event of answerEvents(answer)) text += writer.write(event);
  return { made: encoder.encode(text), answer: { warnings } };
}

const encoder = new TextEncoder();

interface ImagesAsk {
  /** A model that makes pictures while it talks (Gemini); else a vendor that takes no forms. */
  readonly talks: boolean;
  /** Of a form; null for JSON. */
  readonly boundary: string | null;
  readonly upstreamModel: string;
}

/** Makes the body for an upstream that is asked for pictures in another way. */
export function writeImages(body: Uint8Array, { talks, boundary, upstreamModel }: ImagesAsk) {
  const warnings: string[] = [];
  const warn = (what: string): void => void warnings.push(what);
  const content = boundary === null ? body : readFormContent(body, boundary);
  if (!talks) {
    const made = writeImageJson(content, upstreamModel, warn);
    const asked: RequestedImages = { size: null, quality: null, background: null };
    return { made, answer: { asked, warnings } };
  }
  const turn = readImageTurn(content, warn);
  const { size, quality, background } = turn;
  const made = geminiImageCodec.writeImageTurn(turn, warn);
  const asked: RequestedImages = { size, quality, background };
  return { made, answer: { asked, warnings } };
}

interface ImageAnswerAsk {
  readonly createdAt: number;
  readonly stream: "image_generation" | "image_edit" | null;
  readonly asked: RequestedImages;
}

/** Makes the caller's answer of the pictures of a model that makes them while it talks. */
export function answerImages(reply: Uint8Array, { createdAt, stream, asked }: ImageAnswerAsk) {
  const read = geminiImageCodec.readImageAnswer(reply);
  const made = stream === null ? writeImageAnswer(read, createdAt) : writeImageEvents(read, createdAt, stream, asked);
  return { made, answer: { images: read.images.length } };
}

/** Makes the body for an upstream that is asked for vectors in another way. */
export function writeVectorsAsked(body: Uint8Array, ask: EmbeddingSides & { readonly upstreamModel: string }) {
  const warnings: string[] = [];
  const { made, asked } = writeEmbeddings(body, ask, (what) => void warnings.push(what));
  return { made, answer: { asked, warnings } };
}

type VectorsAsk = EmbeddingSides & RequestedEmbedding & { readonly model: string; readonly inputTokens: number };

/** Makes the caller's answer of what such an upstream answered. */
export function answerVectors(reply: Uint8Array, ask: VectorsAsk) {
  return { made: answerEmbeddings(reply, ask, ask), answer: null };
}
