import { outcomeOf } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure, type HeaderReader } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  errorInReply,
  failedResponse,
  inputUsage,
  isAwsEventStreamType,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  isEventStreamType,
  type ReplyFacts,
  type ReplyReader,
  type StreamTap,
  tapAwsEventStream,
  upstreamSide,
  withoutByteOrderMark,
} from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import type { Call, Delivery, RelayDependencies } from "../call.ts";
import {
  translateCompletion,
  translateEmbedding,
  translateImages,
  translateTurn,
} from "../translation/translations.ts";
import { streamType, type TranslatedAnswer, type Translator } from "../translation/translator.ts";
import { answerHeaders, translatedHeaders } from "./answer-headers.ts";
import type { AttemptParts, CallTally } from "./call-tally.ts";
import { type LaneMatch, matchLane } from "./lane-match.ts";
import { sendAttempt } from "./outbound.ts";
import { openStream, readWhole } from "./receive-answer.ts";
import { type AttemptListener, RunningAttempt } from "./run-attempt.ts";
import { type RefusedBy, refusalInStream, refusalOf } from "./upstream-refusal.ts";

/** One try against one deployment. */
export function openAttempt(
  dependencies: RelayDependencies,
  call: Call,
  selection: Selection,
  tally: CallTally,
  listener: AttemptListener,
): void {
  const match = matchLane(selection.deployment, call.protocol);
  if (match === null) {
    selection.end("cancelled", 0);
    const message = `The model "${selection.model.name}" cannot be used on this endpoint.`;
    const options = { param: "model", retry: "other", arrival: "unsent" } as const;
    listener.onFailure(new Failure("unsupported_by_model", message, options));
    return;
  }
  new ModelAttempt(dependencies, call, selection, match, tally, listener).start();
}

class ModelAttempt extends RunningAttempt {
  /** null: caller and upstream speak the same dialect. */
  #translator: Translator | null = null;

  protected send(signal: CallSignal): Promise<void> | undefined {
    if (this.match.translated) this.#translator = translatorOf(this);
    return sendAttempt(this, this.#translator, signal);
  }

  protected deliver(answer: OutboundAnswer): Delivery | Promise<Delivery> {
    const { status, headers, body } = answer;
    if (this.#translator?.searches === true) this.entry.money.searches = true;
    this.entry.answered(status, headers);
    if (status < 200 || status > 299 || this.#isStream(headers) || this.#isSound(headers))
      return this.#deliverLater(answer);
    try {
      const reply = body.arrived?.(Math.min(bounds.replyBytesMax, bounds.replyInPlaceBytesMax)) ?? null;
      if (reply === null) return this.#deliverLater(answer);
      return this.#passReply(answer, reply, this.#readFacts(reply));
    } catch (thrown) {
      body.cancel();
      throw thrown;
    }
  }

  async #deliverLater(answer: OutboundAnswer): Promise<Delivery> {
    const { dependencies, call } = this;
    const { status, headers } = answer;
    try {
      if (status < 200 || status > 299) {
        const refusal = await refusalOf(dependencies, call, this.#refusedBy(), answer);
        throw status >= 500 && mayHaveGenerated(call, status) ? refusal.with({ arrival: "unknown" }) : refusal;
      }
      if (isPacked(headers)) throw unexpected("The upstream's answer has a content encoding that was not asked for.");
      if (!this.#isStream(headers) && !this.#isSound(headers)) return await this.#passWhole(answer);
      // A caller of the upstream's own dialect gets what it sends.
      if (this.#translator !== null && !call.facts.stream)
        throw unexpected("The upstream sent a stream that was not asked for.");
      return await this.#passStream(answer);
    } catch (thrown) {
      answer.body.cancel();
      throw thrown;
    }
  }

  #isStream(headers: HeaderReader): boolean {
    const type = headers.get("content-type") ?? "";
    return isEventStreamType(type) || (this.match.lane.framing === "aws-event-stream" && isAwsEventStreamType(type));
  }

  /** Neither JSON nor events. */
  #isSound(headers: HeaderReader): boolean {
    if (this.#replyReader().tapBytes === undefined) return false;
    return !/^(?:text\/|application\/(?:[\w.+-]*\+)?json)/i.test(headers.get("content-type") ?? "");
  }

  /** A whole reply is settled before its caller gets a byte of it. */
  #passWhole(answer: OutboundAnswer): Promise<Delivery> {
    const { idleMs } = this.selection.deployment.provider.timeouts;
    return readWhole(this.dependencies.memory, this.call.principal, { answer, idleMs }, async (bytes) => {
      const { reply, facts } = await this.#readReply(bytes);
      return this.#passReply(answer, reply, facts);
    });
  }

  #passReply(answer: OutboundAnswer, reply: Uint8Array, read: ReplyFacts): Delivery | Promise<Delivery> {
    const facts = withInputTokens(read, this.match, answer.headers);
    this.entry.money.reply = facts;
    if (facts.errorMessage !== null) throw this.#inStream(errorInReply(reply, facts.errorMessage));
    // Nothing was generated: another deployment is tried, as after such a stream.
    const failed = facts.status === "failed" && facts.items?.length === 0 ? failedResponse(reply) : null;
    if (failed !== null) throw this.#inStream(failed);
    if (this.#translator === null) return this.#succeed(answer, reply, facts, null);
    return this.#translator.whole(reply, facts).then((translated) => this.#succeed(answer, reply, facts, translated));
  }

  #succeed(
    answer: OutboundAnswer,
    reply: Uint8Array,
    facts: ReplyFacts,
    translated: TranslatedAnswer | null,
  ): Delivery {
    const { tally, entry } = this;
    const shown = facts.status === "failed" ? entry.redactor.bytes(reply) : reply;
    entry.succeed(answer.status, facts, translated?.images ?? 0);
    entry.warnUnpriced();
    tally.end();
    return translated === null
      ? { status: answer.status, headers: answerHeaders(this, answer.headers), body: shown }
      : { status: 200, headers: translatedHeaders(this, translated.contentType), body: translated.body };
  }

  /** A large reply is read in a thread, and comes back from there. */
  async #readReply(reply: Uint8Array): Promise<{ readonly reply: Uint8Array; readonly facts: ReplyFacts }> {
    const { dependencies, call, match } = this;
    // Skipping pictures is fast.
    if (reply.length <= bounds.replyInPlaceBytesMax || call.protocol.wireDialect === "openai-images") {
      return { reply, facts: this.#readFacts(reply) };
    }
    const endpoint = match.translated ? null : call.protocol.endpoint;
    const ask = { endpoint, dialect: match.lane.dialect, usage: match.traits.usage };
    const done = await dependencies.bodies.do("reply", ask, reply, { owner: call.principal });
    return { reply: done.body, facts: outcomeOf(done).answer };
  }

  #readFacts(reply: Uint8Array): ReplyFacts {
    return this.#replyReader().readReply(withoutByteOrderMark(reply), this.match.traits.usage);
  }

  #replyReader(): ReplyReader {
    const { call, match } = this;
    return match.translated ? upstreamSide(match.lane.dialect).replyReader : call.protocol.wire;
  }

  async #passStream(answer: OutboundAnswer): Promise<Delivery> {
    const tap = await this.#tapOf(answer);
    return await openStream(this, answer, {
      tap,
      // A background response continues at its upstream, so no other one may be called.
      begun: ({ contentSeen }) => contentSeen || this.call.facts.background === true,
      check: (cut) => {
        if (cut === "too long") throw truncated("The upstream sent only comments.");
        const whole = cut === null || tap.complete();
        if (tap.failure !== null && !tap.contentSeen) throw this.#inStream(tap.failure);
        const isEmpty = cut !== null && tap.events === 0;
        if (!whole || isEmpty) throw truncated("The upstream's stream ended before its first content.");
      },
      headers: () => {
        if (this.#translator !== null) return translatedHeaders(this, streamType);
        const headers = answerHeaders(this, answer.headers);
        if (this.match.lane.framing === "aws-event-stream") headers["content-type"] = streamType;
        return headers;
      },
      inStream: this.#streamFailures(),
    });
  }

  /** A method, so that an open stream does not hold the variables of `#passStream`. */
  #streamFailures(): (failure: Failure) => Failure {
    return (failure) => (this.#translator === null ? this.#inStream(failure) : failure);
  }

  async #tapOf({ headers }: OutboundAnswer): Promise<StreamTap> {
    const { call, match } = this;
    const reader = this.#replyReader();
    if (this.#isSound(headers)) {
      const sound = reader.tapBytes?.(call.facts, headers.get("content-type") ?? "");
      if (sound !== undefined) return sound;
    }
    const hideUsage = this.#translator === null && call.facts.stream && !call.facts.wantsUsage;
    const events = reader.tapStream(hideUsage, match.traits.usage);
    const tap = match.lane.framing === "aws-event-stream" ? await tapAwsEventStream(events) : events;
    return this.#translator?.tap?.(tap, (failure) => this.#inStream(failure)) ?? tap;
  }

  /** An error in a stream or in a reply with a good status, as its caller sees it. */
  #inStream(failure: Failure): Failure {
    return this.entry.redactor.failure(refusalInStream(this.call, this.#refusedBy(), failure));
  }

  #refusedBy(): RefusedBy {
    const { lane, kind } = this.match;
    const { provider } = this.selection.deployment;
    const errorDialect = lane.errorDialect ?? lane.dialect;
    return { provider, kind, errorDialect, entry: this.entry, facts: this.call.facts };
  }
}

/** Some upstreams count the input in a header. */
function withInputTokens(facts: ReplyFacts, { lane }: LaneMatch, headers: HeaderReader): ReplyFacts {
  if (facts.usage?.missingSide !== "input") return facts;
  const tokens = lane.inputTokensIn?.(headers) ?? null;
  return tokens === null ? facts : { ...facts, usage: inputUsage(tokens) };
}

function translatorOf(parts: AttemptParts): Translator {
  const { endpoint, wireDialect } = parts.call.protocol;
  const { dialect } = parts.match.lane;
  if (wireDialect === "openai-images") return translateImages(parts);
  if (isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect))
    return translateEmbedding(parts, { endpoint, dialect });
  return dialect === "mistral-fim" ? translateCompletion(parts) : translateTurn(parts);
}

function unexpected(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true });
}

function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unhealthy: true });
}

/** A 5xx may come after a picture was made and charged. */
function mayHaveGenerated({ facts }: Call, status: number): boolean {
  return facts.images > 0 && !statusesBeforeGeneration.has(status);
}

const statusesBeforeGeneration: ReadonlySet<number> = new Set([501, 503, 505, 529]);

/** Upstreams may not compress. Some servers name a charset in this header. */
function isPacked(headers: HeaderReader): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && /\b(?:gzip|deflate|br|zstd|compress)\b/i.test(encoding);
}
