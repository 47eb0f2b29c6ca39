import { addressesIn } from "#bodies/index.ts";
import { bounds, Failure, type RequestedEmbedding, type RequestedImages, type RequestedTurn } from "#core/index.ts";
import {
  type AnswerContext,
  type AnswerSource,
  type CallerCodec,
  CallerToolNames,
  CompletionEventWriter,
  type DialectTraits,
  type EmbeddingSides,
  openaiChatCodec,
  type RequestFacts,
  readOutline,
  requireFinishedAnswer,
  searchesByOptions,
  upstreamSide,
  writeCompletion,
  writeOutline,
} from "#protocols/index.ts";
import { mayFetch } from "#providers/index.ts";
import { fetchAll, madeBy, workOnBody, workOnReply } from "../attempt/body-work.ts";
import type { AttemptParts } from "../attempt/call-tally.ts";
import { patchedBody } from "../attempt/outbound.ts";
import { TranslatedTap } from "./translated-tap.ts";
import { streamType, type Translator, Warnings, wholeStream } from "./translator.ts";

const jsonType = "application/json";

/**
 * Translates through the neutral form: small bodies in place, larger ones in a thread. Throws Failure invalid_request if the call's body
 * cannot be read.
 */
export function translateTurn(parts: AttemptParts): Translator {
  const { call, match, selection, tally, warnings } = parts;
  const { lane } = match;
  const { endpoint, codec: caller } = call.protocol;
  const side = upstreamSide(lane.dialect);
  const { codec: upstream } = side;
  if (caller === null || upstream === null || !(call.body instanceof Uint8Array)) {
    throw new Error("No translation between these dialects.");
  }
  const { upstreamModel, provider } = selection.deployment;
  // An upstream that may not fetch from callers' addresses gets no addresses.
  const mayNotFetch = side.takesUrl === null && !mayFetch(provider);
  const traits: DialectTraits = mayNotFetch ? { ...match.traits, fetchesUrls: false } : match.traits;
  if (call.body.length <= bounds.translateInPlaceBytesMax) tally.read ??= readCall(caller, call.body, call.facts);
  // null: the call is translated in a thread.
  const turn = tally.read?.turn ?? null;
  for (const warning of tally.read?.warnings ?? []) warnings.add(warning);
  const sides = { endpoint, dialect: lane.dialect, account: provider.id };
  let translated: RequestedTurn | null = turn;
  const requested = (): RequestedTurn => translated ?? missingRequest();
  const context = (): AnswerContext => ({ ...answerContext(parts), turn: requested() });
  const toolNames = (): CallerToolNames => new CallerToolNames(requested().tools);

  /** `urls`: addresses of media to fetch; null: not searched for yet. */
  const bodyInThread = async (urls: readonly string[] | null): Promise<Uint8Array> => {
    const { model, stream } = call.facts;
    const ask = { ...sides, model, stream, upstreamModel, traits, media: null };
    let done = urls === null ? await workOnBody(parts, "translate", ask) : null;
    const wanted = done?.answer.fetch ?? urls ?? [];
    if (done === null || wanted.length > 0) {
      const { media, bytes } = await fetchAll(wanted, parts);
      done = await workOnBody(parts, "translate", { ...ask, media }, { beside: bytes });
    }
    translated = readOutline(done.answer.outline);
    return madeBy(done);
  };

  return {
    async body() {
      const urls = turn === null ? null : addressesIn(turn, traits.fetchesUrls, side);
      if (turn === null || urls === null || urls.length > 0) return bodyInThread(urls);
      const { account, newId } = answerSource(parts);
      return upstream.writeTurn(turn, { upstreamModel, account, traits, newId }, (warning) => warnings.add(warning));
    },

    async whole(reply) {
      const { stream } = call.facts;
      if (reply.length > bounds.translateReplyInPlaceBytesMax) {
        const { model, wantsUsage, createdAt } = answerContext(parts);
        const outline = writeOutline(requested());
        const ask = { ...sides, outline, model, createdAt, wantsUsage, stream, usage: match.traits.usage };
        const { made } = await workOnReply(parts, "answer", ask, reply);
        return { contentType: stream ? streamType : jsonType, body: made, images: 0 };
      }
      const answer = toolNames().answer(requireFinishedAnswer(upstream.readAnswer(reply, answerSource(parts))));
      if (stream) return wholeStream(caller.writeEvents(context()), answer);
      return { contentType: jsonType, body: caller.writeAnswer(answer, context()), images: 0 };
    },

    tap(inner, inStream) {
      const writer = caller.writeEvents(context());
      const tap = new TranslatedTap({
        ...tapOptions(parts, inStream),
        inner,
        reader: upstream,
        writer,
        toolNames: toolNames(),
      });
      warnings.later = (warning) => tap.comment(`sluice-warning: ${warning}`);
      return tap;
    },

    get searches() {
      if (lane.dialect !== "openai-chat" || translated?.search === undefined) return false;
      return searchesByOptions(upstreamModel, lane.traits ?? {});
    },
  };
}

function readCall(caller: CallerCodec, body: Uint8Array, facts: RequestFacts) {
  const warnings = new Warnings();
  return { turn: caller.readTurn(body, facts, (warning) => warnings.add(warning)), warnings };
}

function missingRequest(): never {
  throw new Error("The request was not translated.");
}

/** For readers of the upstream's answers. */
function answerSource({ dependencies, selection, match, warnings }: AttemptParts): AnswerSource {
  const { id: account } = selection.deployment.provider;
  const newId = (prefix: string): string => dependencies.ids.next(prefix);
  return { account, newId, warn: (warning) => warnings.add(warning), usage: match.traits.usage };
}

/** For writers of the caller's answer. */
function answerContext(parts: AttemptParts): Omit<AnswerContext, "turn"> {
  const { account, newId, warn } = answerSource(parts);
  const { model, wantsUsage } = parts.call.facts;
  const now = (): number => Math.floor(parts.dependencies.clock.now() / 1_000);
  return { model, account, createdAt: now(), now, wantsUsage, newId, warn };
}

function tapOptions(parts: AttemptParts, inStream: (failure: Failure) => Failure) {
  const { protocol, requestId } = parts.call;
  const renderError = (failure: Failure): string => protocol.dialect.renderStreamError(failure, requestId);
  return { source: answerSource(parts), inStream, renderError };
}

/** Completions of an upstream that takes the same request but answers as chat completions do (Mistral). */
export function translateCompletion(parts: AttemptParts): Translator {
  return {
    async body() {
      return patchedBody(parts);
    },

    async whole(reply) {
      // Longer than any model writes at once.
      if (reply.length > bounds.replyInPlaceBytesMax)
        throw new Failure("upstream_error", "The upstream's answer is too long.", { retry: "other" });
      const answer = requireFinishedAnswer(openaiChatCodec.readAnswer(reply, answerSource(parts)));
      const context = answerContext(parts);
      if (parts.call.facts.stream) return wholeStream(new CompletionEventWriter(context), answer);
      return { contentType: jsonType, body: writeCompletion(answer, context), images: 0 };
    },

    tap(inner, inStream) {
      const writer = new CompletionEventWriter(answerContext(parts));
      return new TranslatedTap({ ...tapOptions(parts, inStream), inner, reader: openaiChatCodec, writer });
    },
  };
}

/** Vectors of an upstream with another request than the caller's. */
export function translateEmbedding(parts: AttemptParts, sides: EmbeddingSides): Translator {
  let requested: RequestedEmbedding | null = null;
  return {
    async body() {
      const { upstreamModel } = parts.selection.deployment;
      const { made, answer } = await workOnBody(parts, "embeddings", { ...sides, upstreamModel });
      requested = answer;
      return made;
    },

    async whole(reply, { usage }) {
      const { model, inputEstimate } = parts.call.facts;
      const isCounted = usage !== null && usage.missingSide === undefined;
      if (!isCounted) parts.warnings.add("the number of tokens is an estimate: this upstream does not count them");
      const inputTokens = isCounted ? usage.usage.inputUncached : inputEstimate;
      const ask = { ...sides, ...(requested ?? missingRequest()), model, inputTokens };
      const { made } = await workOnReply(parts, "embeddings-answer", ask, reply);
      return { contentType: jsonType, body: made, images: 0 };
    },
  };
}

/** Pictures of an upstream with another request: a chat model that makes them (Gemini), or a vendor without forms (Seedream). */
export function translateImages(parts: AttemptParts): Translator {
  const { call, match, selection } = parts;
  const isChatModel = match.lane.dialect === "gemini";
  let requested: RequestedImages | null = null;
  return {
    async body() {
      const form = call.body instanceof Uint8Array ? null : call.body;
      const { upstreamModel } = selection.deployment;
      const ask = { isChatModel, upstreamModel, boundary: form?.boundary ?? null };
      const body = (await form?.bytes(bounds.formConvertBytesMax)) ?? call.body;
      const { made, answer } = await workOnBody(parts, "images", ask, { body });
      requested = answer;
      return made;
    },

    /** A chat model answers whole; a caller that requests events gets the events of finished pictures. */
    async whole(reply) {
      if (!isChatModel || requested === null) return { contentType: jsonType, body: reply, images: 0 };
      const { createdAt } = answerContext(parts);
      const { stream } = call.facts;
      const kind = call.protocol.endpoint === "images" ? "image_generation" : "image_edit";
      const ask = { createdAt, stream: stream ? kind : null, requested } as const;
      const { made, answer } = await workOnReply(parts, "image-answer", ask, reply);
      return { contentType: stream ? streamType : jsonType, body: made, images: answer.images };
    },
  };
}
