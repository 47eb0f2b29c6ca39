import { outcomeOf } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure } from "#core/index.ts";
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
  new ModelAttempt({ dependencies, call, selection, match, tally }, listener).start();
}

class ModelAttempt extends RunningAttempt {
  /** null: caller and upstream speak the same dialect. */
  translator: Translator | null = null;

  protected send(signal: CallSignal): Promise<void> | undefined {
    if (this.match.translated) this.translator = translatorOf(this);
    return sendAttempt(this, this.translator, signal);
  }

  protected deliver(answer: OutboundAnswer): Delivery | Promise<Delivery> {
    if (this.translator?.searches === true) this.entry.money.searches = true;
    return deliver(this, answer);
  }
}

function deliver(attempt: ModelAttempt, answer: OutboundAnswer): Delivery | Promise<Delivery> {
  const { status } = answer;
  attempt.entry.answered(status, answer.headers);
  if (status < 200 || status > 299 || isStream(answer, attempt.match) || isBytes(attempt, answer))
    return deliverLater(attempt, answer);
  try {
    const reply = answer.body.arrived?.(Math.min(bounds.replyBytesMax, bounds.replyInPlaceBytesMax)) ?? null;
    if (reply === null) return deliverLater(attempt, answer);
    return takeReply(attempt, answer, { reply, facts: readFacts(attempt, reply) });
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

async function deliverLater(attempt: ModelAttempt, answer: OutboundAnswer): Promise<Delivery> {
  const { dependencies, call, match, translator } = attempt;
  const { status } = answer;
  try {
    if (status >= 200 && status <= 299) {
      if (isPacked(answer)) throw unasked("The upstream's answer has a content encoding that was not asked for.");
      if (!isStream(answer, match) && !isBytes(attempt, answer)) return await takeWhole(attempt, answer);
      // A caller of the upstream's own dialect gets what it sends.
      if (translator !== null && !call.facts.stream)
        throw unasked("The upstream sent a stream that was not asked for.");
      return await passStream(attempt, answer);
    }
    const refusal = await refusalOf(dependencies, call, refusedBy(attempt), answer);
    throw status >= 500 && mayHaveMade(call, status) ? refusal.with({ arrival: "unknown" }) : refusal;
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

function unasked(message: string): Failure {
  return new Failure("upstream_error", message, { retry: "other", unhealthy: true });
}

function translatorOf(parts: AttemptParts): Translator {
  const { endpoint, wireDialect } = parts.call.protocol;
  const { dialect } = parts.match.lane;
  if (wireDialect === "openai-images") return translateImages(parts);
  if (isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect))
    return translateEmbedding(parts, { endpoint, dialect });
  return dialect === "mistral-fim" ? translateCompletion(parts) : translateTurn(parts);
}

function isStream(answer: OutboundAnswer, match: LaneMatch): boolean {
  const type = answer.headers.get("content-type") ?? "";
  return isEventStreamType(type) || (match.lane.framing === "aws-event-stream" && isAwsEventStreamType(type));
}

/** Sound: neither JSON nor events. */
function isBytes(attempt: ModelAttempt, answer: OutboundAnswer): boolean {
  if (listenerOf(attempt).tapBytes === undefined) return false;
  return !/^(?:text\/|application\/(?:[\w.+-]*\+)?json)/i.test(answer.headers.get("content-type") ?? "");
}

/** A whole reply is settled before its caller gets a byte of it. */
function takeWhole(attempt: ModelAttempt, answer: OutboundAnswer): Promise<Delivery> {
  const { idleMs } = attempt.selection.deployment.provider.timeouts;
  return readWhole(attempt.dependencies.memory, attempt.call.principal, { answer, idleMs }, async (bytes) =>
    takeReply(attempt, answer, await readReply(attempt, bytes)),
  );
}

interface Reply {
  readonly reply: Uint8Array;
  readonly facts: ReplyFacts;
}

function takeReply(attempt: ModelAttempt, answer: OutboundAnswer, read: Reply): Delivery | Promise<Delivery> {
  const { entry, translator } = attempt;
  const { reply, facts } = counted(read, attempt.match, answer);
  entry.money.reply = facts;
  if (facts.errorMessage !== null) throw inStream(attempt)(errorInReply(reply, facts.errorMessage));
  // Nothing was generated: another deployment is tried, as after such a stream.
  const failed = facts.status === "failed" && facts.items?.length === 0 ? failedResponse(reply) : null;
  if (failed !== null) throw inStream(attempt)(failed);
  const made = translator?.whole(reply, facts) ?? null;
  return made instanceof Promise
    ? made.then((translated) => succeeded(attempt, answer, { reply, facts }, translated))
    : succeeded(attempt, answer, { reply, facts }, made);
}

function succeeded(
  attempt: ModelAttempt,
  answer: OutboundAnswer,
  { reply, facts }: Reply,
  translated: TranslatedAnswer | null,
): Delivery {
  const { tally, entry } = attempt;
  const shown = facts.status === "failed" ? entry.redactor.bytes(reply) : reply;
  entry.succeed(answer.status, facts, translated?.images ?? 0);
  entry.warnUnpriced();
  tally.end();
  return translated === null
    ? { status: answer.status, headers: answerHeaders(attempt, answer.headers), body: shown }
    : { status: 200, headers: translatedHeaders(attempt, translated.contentType), body: translated.body };
}

/** Some upstreams count the input in a header. */
function counted(read: Reply, { lane }: LaneMatch, { headers }: OutboundAnswer): Reply {
  if (read.facts.usage?.missingSide !== "input") return read;
  const tokens = lane.inputTokensIn?.(headers) ?? null;
  return tokens === null ? read : { ...read, facts: { ...read.facts, usage: inputUsage(tokens) } };
}

/** A large reply is read in a thread, and comes back from there. */
async function readReply(attempt: ModelAttempt, reply: Uint8Array): Promise<Reply> {
  const { dependencies, call, match } = attempt;
  // Skipping pictures is fast.
  if (reply.length <= bounds.replyInPlaceBytesMax || call.protocol.wireDialect === "openai-images") {
    return { reply, facts: readFacts(attempt, reply) };
  }
  const endpoint = match.translated ? null : call.protocol.endpoint;
  const ask = { endpoint, dialect: match.lane.dialect, usage: match.traits.usage };
  const done = await dependencies.bodies.do("reply", ask, reply, { owner: call.principal });
  return { reply: done.body, facts: outcomeOf(done).answer };
}

async function passStream(attempt: ModelAttempt, answer: OutboundAnswer): Promise<Delivery> {
  const { call, match, translator } = attempt;
  const tap = await tapOf(attempt, answer);
  return await openStream(attempt, answer, {
    tap,
    // A background response goes on at its upstream, so no other may be asked.
    begun: ({ contentSeen }) => contentSeen || call.facts.background === true,
    check(cut) {
      if (cut === "too long") throw truncated("The upstream sent only comments.");
      const whole = cut === null || tap.complete();
      if (tap.failure !== null && !tap.contentSeen) throw inStream(attempt)(tap.failure);
      const isEmpty = cut !== null && tap.events === 0;
      if (!whole || isEmpty) throw truncated("The upstream's stream ended before its first content.");
    },
    headers() {
      if (translator !== null) return translatedHeaders(attempt, streamType);
      const headers = answerHeaders(attempt, answer.headers);
      if (match.lane.framing === "aws-event-stream") headers["content-type"] = streamType;
      return headers;
    },
    inStream: translator === null ? inStream(attempt) : (failure) => failure,
  });
}

function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unhealthy: true });
}

function inStream(attempt: ModelAttempt): (failure: Failure) => Failure {
  const { call, entry } = attempt;
  return (failure) => entry.redactor.failure(refusalInStream(call, refusedBy(attempt), failure));
}

function refusedBy({ call: { facts }, selection, match, entry }: ModelAttempt): RefusedBy {
  const { lane, kind } = match;
  const { provider } = selection.deployment;
  return { provider, kind, errorDialect: lane.errorDialect ?? lane.dialect, entry, facts };
}

function readFacts(attempt: ModelAttempt, reply: Uint8Array): ReplyFacts {
  return listenerOf(attempt).readReply(withoutByteOrderMark(reply), attempt.match.traits.usage);
}

function listenerOf({ call, match }: ModelAttempt) {
  return match.translated ? upstreamSide(match.lane.dialect).replyReader : call.protocol.wire;
}

async function tapOf(attempt: ModelAttempt, answer: OutboundAnswer): Promise<StreamTap> {
  const { call, match, translator } = attempt;
  const listener = listenerOf(attempt);
  if (isBytes(attempt, answer)) {
    const sound = listener.tapBytes?.(call.facts, answer.headers.get("content-type") ?? "");
    if (sound !== undefined) return sound;
  }
  const hideUsage = translator === null && call.facts.stream && !call.facts.wantsUsage;
  const events = listener.tapStream(hideUsage, match.traits.usage);
  const tap = match.lane.framing === "aws-event-stream" ? await tapAwsEventStream(events) : events;
  return translator?.tap?.(tap, inStream(attempt)) ?? tap;
}

/** A 5xx may come after a picture was made and charged. `saidBeforeBeginning`: a refusal. */
function mayHaveMade({ facts }: Call, status: number): boolean {
  return facts.images > 0 && !saidBeforeBeginning.has(status);
}

const saidBeforeBeginning: ReadonlySet<number> = new Set([501, 503, 505, 529]);

/** No upstream is asked to compress. Some servers name a charset in this header. */
function isPacked({ headers }: OutboundAnswer): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && /\b(?:gzip|deflate|br|zstd|compress)\b/i.test(encoding);
}
