import { addressesIn, outcomeOf } from "#bodies/index.ts";
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
  CompletionEventWriter,
  type DialectTraits,
  type EmbeddingSides,
  OwnToolNames,
  openaiChatCodec,
  type ReplyFacts,
  readOutline,
  type StreamTap,
  searchesByOptions,
  type UpstreamCodec,
  unbroken,
  upstreamSide,
  writeCompletion,
  writeOutline,
} from "#protocols/index.ts";
import { mayFetch } from "#providers/index.ts";
import { fetchAll, madeBy, workOnBody } from "../attempt/body-work.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { patchedBody } from "../attempt/outbound.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type TranslatedAnswer, type Translator, wholeStream } from "./translator.ts";

/** Translates through the neutral form: small bodies here, larger ones in a thread. */
export class Translation implements Translator {
  readonly #parts: AttemptParts;
  readonly #caller: CallerCodec;
  readonly #upstream: UpstreamCodec;
  /** null: the call is translated in a thread. */
  readonly #turn: Turn | null;
  /** Set once the request is translated. */
  #asked: RequestedTurn | null;

  /** Throws Failure invalid_request when the call's body cannot be understood. */
  constructor(parts: AttemptParts) {
    const { call, match, tally, warnings } = parts;
    const caller = call.protocol.codec;
    const upstream = upstreamSide(match.lane.dialect).codec;
    if (caller === null || upstream === null || !(call.body instanceof Uint8Array)) {
      throw new Error("a way that cannot be gone");
    }
    this.#parts = parts;
    this.#caller = caller;
    this.#upstream = upstream;
    if (call.body.length <= bounds.translateInPlaceBytesMax) {
      tally.turn ??= caller.readTurn(call.body, call.facts, tally.turnWarnings.add);
    }
    this.#turn = tally.turn;
    this.#asked = tally.turn;
    for (const what of tally.turnWarnings) warnings.add(what);
  }

  body(): Uint8Array | Promise<Uint8Array> {
    const turn = this.#turn;
    if (turn === null) return this.#bodyBeside(null);
    const { lane } = this.#parts.match;
    const urls = addressesIn(turn, this.#traits().fetchesUrls, upstreamSide(lane.dialect));
    return urls.length === 0 ? this.#write(turn) : this.#bodyBeside(urls);
  }

  /** In a thread. `urls` null: not looked for yet. */
  async #bodyBeside(urls: readonly string[] | null): Promise<Uint8Array> {
    const { dependencies, call, selection, warnings } = this.#parts;
    const { model, stream } = call.facts;
    const { upstreamModel } = selection.deployment;
    const ask = { ...this.#sides(), model, stream, upstreamModel, traits: this.#traits(), media: null };
    let done = urls === null ? await workOnBody(dependencies.bodies, call, "translate", ask) : null;
    const wanted = done?.answer.fetch ?? urls ?? [];
    if (done === null || wanted.length > 0) {
      const { media, bytes } = await fetchAll(wanted, this.#parts);
      done = await workOnBody(dependencies.bodies, call, "translate", { ...ask, media }, { beside: bytes });
    }
    for (const what of done.answer.warnings) warnings.add(what);
    this.#asked = readOutline(done.answer.outline);
    return madeBy(done);
  }

  /** An upstream that may not fetch what callers name reads no addresses. */
  #traits(): DialectTraits {
    const { traits, lane } = this.#parts.match;
    const reads = upstreamSide(lane.dialect).takesUrl === null;
    return reads && !mayFetch(this.#parts.selection.deployment.provider) ? { ...traits, fetchesUrls: false } : traits;
  }

  #write(turn: Turn): Uint8Array {
    const { selection, warnings } = this.#parts;
    const { upstreamModel } = selection.deployment;
    const { account, newId } = answerSource(this.#parts);
    const target = { upstreamModel, account, traits: this.#traits(), newId };
    return this.#upstream.writeTurn(turn, target, warnings.add);
  }

  whole(reply: Uint8Array): TranslatedAnswer | Promise<TranslatedAnswer> {
    if (reply.length > bounds.translateReplyInPlaceBytesMax) return this.#wholeBeside(reply);
    const read = unbroken(this.#upstream.readAnswer(reply, answerSource(this.#parts)));
    const answer = this.#toolNames().answer(read);
    const context = this.#context();
    if (this.#parts.call.facts.stream) return wholeStream(this.#caller.writeEvents(context), answer);
    return { contentType: "application/json", body: this.#caller.writeAnswer(answer, context), images: 0 };
  }

  async #wholeBeside(reply: Uint8Array): Promise<TranslatedAnswer> {
    const { dependencies, call, match, warnings } = this.#parts;
    const { stream } = call.facts;
    const { model, wantsUsage, createdAt } = answerContext(this.#parts);
    const outline = writeOutline(this.#askedTurn());
    const { usage } = match.traits;
    const ask = { ...this.#sides(), outline, model, createdAt, wantsUsage, stream, usage };
    const done = outcomeOf(await dependencies.bodies.do("answer", ask, reply, { owner: call.principal }));
    for (const what of done.answer.warnings) warnings.add(what);
    return { contentType: stream ? streamType : "application/json", body: madeBy(done), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
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
    warnings.later = (what) => tap.comment(`sluice-warning: ${what}`);
    return tap;
  }

  get searches(): boolean {
    const { match, selection } = this.#parts;
    const { dialect, traits = {} } = match.lane;
    if (dialect !== "openai-chat" || this.#asked?.search === undefined) return false;
    return searchesByOptions(selection.deployment.upstreamModel, traits);
  }

  #sides(): { readonly endpoint: CallEndpointId; readonly dialect: WireDialectId; readonly account: string } {
    const { call, match, selection } = this.#parts;
    const { id: account } = selection.deployment.provider;
    return { endpoint: call.protocol.endpoint, dialect: match.lane.dialect, account };
  }

  #askedTurn(): RequestedTurn {
    if (this.#asked === null) throw new Error("an answer to a request that was not translated");
    return this.#asked;
  }

  #toolNames(): OwnToolNames {
    return new OwnToolNames(this.#askedTurn().tools);
  }

  #context(): AnswerContext {
    return { ...answerContext(this.#parts), turn: this.#askedTurn() };
  }
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

  body(): Uint8Array | Promise<Uint8Array> {
    return patchedBody(this.#parts);
  }

  whole(reply: Uint8Array): TranslatedAnswer {
    // Longer than any model writes at once.
    if (reply.length > bounds.replyInPlaceBytesMax)
      throw new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other" });
    const answer = unbroken(openaiChatCodec.readAnswer(reply, answerSource(this.#parts)));
    const context = answerContext(this.#parts);
    if (this.#parts.call.facts.stream) return wholeStream(new CompletionEventWriter(context), answer);
    return { contentType: "application/json", body: writeCompletion(answer, context), images: 0 };
  }

  tap(inner: StreamTap, inStream: (told: Failure) => Failure): StreamTap {
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
  #asked: RequestedEmbedding | null = null;

  constructor(parts: AttemptParts, sides: EmbeddingSides) {
    this.#parts = parts;
    this.#sides = sides;
  }

  async body(): Promise<Uint8Array> {
    const { dependencies, call, selection, warnings } = this.#parts;
    const ask = { ...this.#sides, upstreamModel: selection.deployment.upstreamModel };
    const done = await workOnBody(dependencies.bodies, call, "embeddings", ask);
    for (const what of done.answer.warnings) warnings.add(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  async whole(reply: Uint8Array, { usage }: ReplyFacts): Promise<TranslatedAnswer> {
    if (this.#asked === null) throw new Error("an answer before its question");
    const { dependencies, call, warnings } = this.#parts;
    const { model, inputEstimate } = call.facts;
    const isCounted = usage !== null && usage.missingSide === undefined;
    if (!isCounted) warnings.add("the number of tokens is an estimate: this upstream does not count them");
    const inputTokens = isCounted ? usage.usage.inputUncached : inputEstimate;
    const ask = { ...this.#sides, ...this.#asked, model, inputTokens };
    const done = outcomeOf(await dependencies.bodies.do("embeddings-answer", ask, reply, { owner: call.principal }));
    return { contentType: "application/json", body: madeBy(done), images: 0 };
  }
}

/** Pictures of an upstream with another request: a chat model that makes them (Gemini), or one that takes no forms (Seedream). */
export class ImageTranslation implements Translator {
  readonly #parts: AttemptParts;
  readonly #talks: boolean;
  #asked: RequestedImages | null = null;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.#talks = parts.match.lane.dialect === "gemini";
  }

  async body(): Promise<Uint8Array> {
    const { dependencies, call, selection, warnings } = this.#parts;
    if (call.body === null) throw new Error("a call is sent after its answer has begun");
    const form = call.body instanceof Uint8Array ? null : call.body;
    const { upstreamModel } = selection.deployment;
    const ask = { talks: this.#talks, upstreamModel, boundary: form?.boundary ?? null };
    const body = (await form?.bytes(bounds.formConvertBytesMax)) ?? call.body;
    const done = await workOnBody(dependencies.bodies, call, "images", ask, { body });
    for (const what of done.answer.warnings) warnings.add(what);
    this.#asked = done.answer.asked;
    return madeBy(done);
  }

  /** A chat model answers whole; a caller that wants events gets those of finished pictures. */
  async whole(reply: Uint8Array): Promise<TranslatedAnswer> {
    if (!this.#talks || this.#asked === null) return { contentType: "application/json", body: reply, images: 0 };
    const { dependencies, call } = this.#parts;
    const { stream } = call.facts;
    const { createdAt } = answerContext(this.#parts);
    const kind = call.protocol.endpoint === "images" ? "image_generation" : "image_edit";
    const ask = { createdAt, stream: stream ? kind : null, asked: this.#asked } as const;
    const done = outcomeOf(await dependencies.bodies.do("image-answer", ask, reply, { owner: call.principal }));
    const contentType = stream ? streamType : "application/json";
    return { contentType, body: madeBy(done), images: done.answer.images };
  }
}
