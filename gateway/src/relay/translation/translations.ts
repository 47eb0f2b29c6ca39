import { addressesIn } from "#bodies/index.ts";
import {
  bounds,
  Failure,
  type RequestedEmbedding,
  type RequestedImages,
  type RequestedTurn,
  type Turn,
  type WireDialectId,
} from "#core/index.ts";
import {
  type AnswerContext,
  type AnswerSource,
  type CallEndpointId,
  type CallerCodec,
  CallerToolNames,
  CompletionEventWriter,
  type DialectTraits,
  type EmbeddingSides,
  openaiChatCodec,
  type ReplyFacts,
  type RequestFacts,
  readOutline,
  requireFinishedAnswer,
  type StreamTap,
  searchesByOptions,
  type UpstreamCodec,
  upstreamSide,
  writeCompletion,
  writeOutline,
} from "#protocols/index.ts";
import { mayFetch } from "#providers/index.ts";
import { fetchAll, madeBy, workOnBody, workOnReply } from "../attempt/body-work.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { patchedBody } from "../attempt/outbound.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings, wholeStream } from "./translator.ts";

/** Translates through the neutral form: small bodies in place, larger ones in a thread. */
export class Translation implements Translator {
  readonly #parts: AttemptParts;
  readonly #caller: CallerCodec;
  readonly #upstream: UpstreamCodec;
  /** An upstream that may not fetch from callers' addresses gets no addresses. */
  readonly #traits: DialectTraits;
  /** null: the call is translated in a thread. */
  readonly #turn: Turn | null;
  /** Set once the request is translated. */
  #requested: RequestedTurn | null;

  /** Throws Failure invalid_request if the call's body cannot be read. */
  constructor(parts: AttemptParts) {
    const { call, match, selection, tally, warnings } = parts;
    const { codec: upstream, takesUrl } = upstreamSide(match.lane.dialect);
    const caller = call.protocol.codec;
    if (caller === null || upstream === null || !(call.body instanceof Uint8Array)) {
      throw new Error("No translation between these dialects.");
    }
    this.#parts = parts;
    this.#caller = caller;
    this.#upstream = upstream;
    const mayNotFetch = takesUrl === null && !mayFetch(selection.deployment.provider);
    this.#traits = mayNotFetch ? { ...match.traits, fetchesUrls: false } : match.traits;
    if (call.body.length <= bounds.translateInPlaceBytesMax) {
      tally.read ??= readCall(caller, call.body, call.facts);
    }
    this.#turn = tally.read?.turn ?? null;
    this.#requested = this.#turn;
    for (const warning of tally.read?.warnings ?? []) warnings.add(warning);
  }

  async body(): Promise<Uint8Array> {
    const turn = this.#turn;
    if (turn === null) return this.#bodyInThread(null);
    const { match, selection, warnings } = this.#parts;
    const urls = addressesIn(turn, this.#traits.fetchesUrls, upstreamSide(match.lane.dialect));
    if (urls.length > 0) return this.#bodyInThread(urls);
    const { upstreamModel } = selection.deployment;
    const { account, newId } = answerSource(this.#parts);
    return this.#upstream.writeTurn(turn, { upstreamModel, account, traits: this.#traits, newId }, warnings.add);
  }

  /** `urls`: addresses of media to fetch; null: not searched for yet. */
  async #bodyInThread(urls: readonly string[] | null): Promise<Uint8Array> {
    const { call, selection } = this.#parts;
    const { model, stream } = call.facts;
    const { upstreamModel } = selection.deployment;
    const ask = { ...this.#sides(), model, stream, upstreamModel, traits: this.#traits, media: null };
    let done = urls === null ? await workOnBody(this.#parts, "translate", ask) : null;
    const wanted = done?.answer.fetch ?? urls ?? [];
    if (done === null || wanted.length > 0) {
      const { media, bytes } = await fetchAll(wanted, this.#parts);
      done = await workOnBody(this.#parts, "translate", { ...ask, media }, { beside: bytes });
    }
    this.#requested = readOutline(done.answer.outline);
    return madeBy(done);
  }

  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    const { stream } = this.#parts.call.facts;
    if (reply.length > bounds.translateReplyInPlaceBytesMax) {
      const { model, wantsUsage, createdAt } = answerContext(this.#parts);
      const outline = writeOutline(this.#requestedTurn());
      const { usage } = this.#parts.match.traits;
      const ask = { ...this.#sides(), outline, model, createdAt, wantsUsage, stream, usage };
      const { made } = await workOnReply(this.#parts, "answer", ask, reply);
      return { contentType: stream ? streamType : jsonType, body: made, images: 0 };
    }
    const read = requireFinishedAnswer(this.#upstream.readAnswer(reply, answerSource(this.#parts)));
    const answer = this.#toolNames().answer(read);
    const context = this.#context();
    if (stream) return wholeStream(this.#caller.writeEvents(context), answer);
    return { contentType: jsonType, body: this.#caller.writeAnswer(answer, context), images: 0 };
  }

  tap(inner: StreamTap, inStream: (failure: Failure) => Failure): StreamTap {
    const { call, warnings } = this.#parts;
    const tap = new TranslatedTap({
      inner,
      reader: this.#upstream,
      writer: this.#caller.writeEvents(this.#context()),
      source: answerSource(this.#parts),
      toolNames: this.#toolNames(),
      inStream,
      renderError: (failure) => call.protocol.dialect.renderStreamError(failure, call.requestId),
    });
    warnings.later = (warning) => tap.comment(`sluice-warning: ${warning}`);
    return tap;
  }

  get searches(): boolean {
    const { match, selection } = this.#parts;
    const { dialect, traits = {} } = match.lane;
    if (dialect !== "openai-chat" || this.#requested?.search === undefined) return false;
    return searchesByOptions(selection.deployment.upstreamModel, traits);
  }

  #sides(): { readonly endpoint: CallEndpointId; readonly dialect: WireDialectId; readonly account: string } {
    const { call, match, selection } = this.#parts;
    const { id: account } = selection.deployment.provider;
    return { endpoint: call.protocol.endpoint, dialect: match.lane.dialect, account };
  }

  #requestedTurn(): RequestedTurn {
    if (this.#requested === null) throw notRequested();
    return this.#requested;
  }

  #toolNames(): CallerToolNames {
    return new CallerToolNames(this.#requestedTurn().tools);
  }

  #context(): AnswerContext {
    return { ...answerContext(this.#parts), turn: this.#requestedTurn() };
  }
}

const jsonType = "application/json";

function readCall(caller: CallerCodec, body: Uint8Array, facts: RequestFacts) {
  const warnings = new Warnings();
  return { turn: caller.readTurn(body, facts, warnings.add), warnings };
}

function notRequested(): Error {
  return new Error("The request was not translated.");
}

/** For readers of the upstream's answers. */
function answerSource({ dependencies, selection, match, warnings }: AttemptParts): AnswerSource {
  const { id: account } = selection.deployment.provider;
  const newId = (prefix: string): string => dependencies.ids.next(prefix);
  return { account, newId, warn: warnings.add, usage: match.traits.usage };
}

/** For writers of the caller's answer. */
function answerContext(parts: AttemptParts): Omit<AnswerContext, "turn"> {
  const { account, newId, warn } = answerSource(parts);
  const { model, wantsUsage } = parts.call.facts;
  const now = (): number => Math.floor(parts.dependencies.clock.now() / 1_000);
  return { model, account, createdAt: now(), now, wantsUsage, newId, warn };
}

/** Completions of an upstream that takes the same request but answers as chat completions do (Mistral). */
export class CompletionTranslation implements Translator {
  readonly #parts: AttemptParts;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  async body(): Promise<Uint8Array> {
    return patchedBody(this.#parts);
  }

  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    // Longer than any model writes at once.
    if (reply.length > bounds.replyInPlaceBytesMax)
      throw new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other" });
    const answer = requireFinishedAnswer(openaiChatCodec.readAnswer(reply, answerSource(this.#parts)));
    const context = answerContext(this.#parts);
    if (this.#parts.call.facts.stream) return wholeStream(new CompletionEventWriter(context), answer);
    return { contentType: jsonType, body: writeCompletion(answer, context), images: 0 };
  }

  tap(inner: StreamTap, inStream: (failure: Failure) => Failure): StreamTap {
    const { protocol, requestId } = this.#parts.call;
    return new TranslatedTap({
      inner,
      reader: openaiChatCodec,
      writer: new CompletionEventWriter(answerContext(this.#parts)),
      source: answerSource(this.#parts),
      inStream,
      renderError: (failure) => protocol.dialect.renderStreamError(failure, requestId),
    });
  }
}

/** Vectors of an upstream with another request than the caller's. */
export class EmbeddingTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #sides: EmbeddingSides;
  #requested: RequestedEmbedding | null = null;

  constructor(parts: AttemptParts, sides: EmbeddingSides) {
    this.#parts = parts;
    this.#sides = sides;
  }

  async body(): Promise<Uint8Array> {
    const ask = { ...this.#sides, upstreamModel: this.#parts.selection.deployment.upstreamModel };
    const { made, answer } = await workOnBody(this.#parts, "embeddings", ask);
    this.#requested = answer;
    return made;
  }

  async whole(reply: Uint8Array, { usage }: ReplyFacts): Promise<TranslatedAnswer> {
    if (this.#requested === null) throw notRequested();
    const { call, warnings } = this.#parts;
    const { model, inputEstimate } = call.facts;
    const isCounted = usage !== null && usage.missingSide === undefined;
    if (!isCounted) warnings.add("the number of tokens is an estimate: this upstream does not count them");
    const inputTokens = isCounted ? usage.usage.inputUncached : inputEstimate;
    const ask = { ...this.#sides, ...this.#requested, model, inputTokens };
    const { made } = await workOnReply(this.#parts, "embeddings-answer", ask, reply);
    return { contentType: jsonType, body: made, images: 0 };
  }
}

/** Pictures of an upstream with another request: a chat model that makes them (Gemini), or a vendor without forms (Seedream). */
export class ImageTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #isChatModel: boolean;
  #requested: RequestedImages | null = null;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#isChatModel = parts.match.lane.dialect === "gemini";
  }

  async body(): Promise<Uint8Array> {
    const { call, selection } = this.#parts;
    const form = call.body instanceof Uint8Array ? null : call.body;
    const { upstreamModel } = selection.deployment;
    const ask = { isChatModel: this.#isChatModel, upstreamModel, boundary: form?.boundary ?? null };
    const body = (await form?.bytes(bounds.formConvertBytesMax)) ?? call.body;
    const { made, answer } = await workOnBody(this.#parts, "images", ask, { body });
    this.#requested = answer;
    return made;
  }

  /** A chat model answers whole; a caller that requests events gets the events of finished pictures. */
  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    if (!this.#isChatModel || this.#requested === null) return { contentType: jsonType, body: reply, images: 0 };
    const { call } = this.#parts;
    const { createdAt } = answerContext(this.#parts);
    const kind = call.protocol.endpoint === "images" ? "image_generation" : "image_edit";
    const ask = { createdAt, stream: call.facts.stream ? kind : null, requested: this.#requested } as const;
    const { made, answer } = await workOnReply(this.#parts, "image-answer", ask, reply);
    return { contentType: call.facts.stream ? streamType : jsonType, body: made, images: answer.images };
  }
}
