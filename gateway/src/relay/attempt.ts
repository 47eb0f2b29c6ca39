import { outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  AwsEventStream,
  inputUsage,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  type ReplyFacts,
  type StreamTap,
  upstreamSide,
} from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import { type AnswerParts, answerHeaders, passAtOnce, translatedHeaders } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { Call, Delivery } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import { CompletionTranslation } from "./completion-translation.ts";
import { EmbeddingTranslation } from "./embedding-translation.ts";
import { FramedTap } from "./framed-tap.ts";
import type { RelayHouse } from "./house.ts";
import { ImageTranslation } from "./image-translation.ts";
import { sendAttempt } from "./outbound.ts";
import { overloaded, type RefusedBy, refusalOf } from "./refusal.ts";
import { signalUntilAnswered } from "./signal-until-answered.ts";
import { Translation } from "./translation.ts";
import { streamType, type Translator, Warnings } from "./translator.ts";
import { inSafeWords, upstreamWords } from "./upstream-words.ts";
import { type Way, wayOf } from "./way.ts";

/** What one attempt works with. */
interface Parts {
  readonly house: RelayHouse;
  readonly call: Call;
  readonly pick: Pick;
  readonly tally: CallTally;
  readonly way: Way;
  readonly entry: AttemptEntry;
  /** null: caller and upstream speak the same dialect. */
  readonly translation: Translator | null;
  /** Of a call that is not translated: hardly ever any; else the translation's. */
  readonly warnings: Warnings;
}

/**
 * One try against one deployment. Resolves once an answer has begun; from then on no retry is possible. Until then
 * it throws a Failure that says what may be tried next, with its ledger entry settled.
 */
export async function openAttempt(house: RelayHouse, call: Call, pick: Pick, tally: CallTally): Promise<Delivery> {
  const way = wayOf(pick.deployment, call.speech);
  if (way === null) {
    pick.end("cancelled", 0);
    throw new Failure("unsupported_by_model", `The model "${pick.model.name}" cannot be used on this endpoint.`, {
      param: "model",
      retry: "other",
    });
  }
  tally.attempts++;
  const attempt = signalUntilAnswered(call.signal, drains(call, pick));
  const entry = beginEntry(house, call, pick, way, tally);
  try {
    if (house.catalog().settings.ledgerDurability === "strict") await house.journal.synced();
    const translation = translatorOf(house, call, pick, way, tally);
    const warnings = translation?.warned ?? new Warnings();
    entry.warnedBy(warnings);
    const parts: Parts = { house, call, pick, tally, way, entry, translation, warnings };
    const answer = await sendAttempt(house, parts, attempt.signal);
    if (translation?.searches === true) entry.searches();
    const delivery = await deliver(parts, answer);
    // A stream may last for long; what it answers is not needed any more.
    if (call.body instanceof Uint8Array) call.body = null;
    return delivery;
  } catch (thrown) {
    throw entry.fail(call.signal.aborted ? callerGone(thrown) : asFailure(thrown));
  } finally {
    attempt.answered();
  }
}

/** What cannot be delivered is not left open: an upstream that would go on sending is told to stop. */
async function deliver(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  parts.entry.answered(answer.status);
  const { house, call, way } = parts;
  try {
    if (answer.status >= 200 && answer.status <= 299) {
      if (!isStream(answer, way) && !isBytes(parts, answer)) return await takeWhole(parts, answer);
      if (parts.translation !== null && !call.facts.stream) throw unaskedStream();
      return await openStream(parts, answer);
    }
    const spokenTo = { dialect: call.speech.dialect, requestId: call.requestId };
    const refusal = await refusalOf(house, spokenTo, refusedBy(parts), answer);
    throw answer.status >= 500 && mayHaveMade(call, answer.status) ? refusal.with({ arrival: "unknown" }) : refusal;
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

function translatorOf(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally): Translator | null {
  if (call.speech.bodies === "openai-images") {
    return way.translated ? new ImageTranslation(house, call, pick, way) : null;
  }
  const { endpoint } = call.speech;
  const { dialect } = way.lane;
  if (way.translated && isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect)) {
    return new EmbeddingTranslation(house, call, pick, { endpoint, dialect });
  }
  if (way.translated && dialect === "mistral-fim") return new CompletionTranslation(house, call, pick);
  return way.translated ? new Translation(house, call, pick, way, tally) : null;
}

function beginEntry(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally): AttemptEntry {
  try {
    return new AttemptEntry(house, call, pick, way, tally);
  } catch (thrown) {
    pick.end("cancelled", 0);
    throw thrown;
  }
}

function isStream(answer: OutboundAnswer, way: Way): boolean {
  const type = answer.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) return true;
  return way.lane.framing === "aws-event-stream" && type.startsWith("application/vnd.amazon.eventstream");
}

/** A sound: neither JSON nor events, passed on as it is made. */
function isBytes(parts: Parts, answer: OutboundAnswer): boolean {
  if (listenerOf(parts).tapBytes === undefined) return false;
  return !/^(?:text\/|application\/(?:[\w.+-]*\+)?json)/i.test(answer.headers.get("content-type") ?? "");
}

/** A whole reply: read, checked and settled before the caller sees a byte of it. */
async function takeWhole(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { pick, tally, entry, translation } = parts;
  const { idleMs } = pick.deployment.provider.timeouts;
  const read = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
  const { reply, facts } = counted(await heard(parts, read), parts.way, answer);
  entry.hearsReply(facts);
  if (facts.errorMessage !== null) {
    throw new Failure("upstream_error", `The upstream reported an error: ${upstreamWords(facts.errorMessage)}`, {
      retry: "other",
      unwell: true,
      arrival: "refused",
    });
  }
  const made = translation?.whole(reply, facts) ?? null;
  const translated = made instanceof Promise ? await made : made;
  entry.firstByte();
  entry.succeed(answer.status, facts, translated?.images ?? 0);
  tally.end();
  const said = answerParts(parts);
  if (translated === null || translation === null) {
    return {
      status: answer.status,
      headers: answerHeaders(said, answer.headers, parts.warnings.header()),
      body: reply,
    };
  }
  const headers = translatedHeaders(said, translated.contentType, translation.warnings());
  return { status: 200, headers, body: translated.body };
}

/** An upstream may say in a header what its body leaves out. */
function counted(read: Heard, { lane }: Way, { headers }: OutboundAnswer): Heard {
  if (read.facts.usage?.untold !== "input") return read;
  const tokens = lane.inputTokensIn?.(headers) ?? null;
  return tokens === null ? read : { ...read, facts: { ...read.facts, usage: inputUsage(tokens) } };
}

interface Heard {
  readonly reply: Uint8Array;
  readonly facts: ReplyFacts;
}

/** What a whole reply says of itself. A large one is listened to in a thread, and comes back from there. */
async function heard(parts: Parts, reply: Uint8Array): Promise<Heard> {
  const { house, call, way, translation } = parts;
  // Pictures are passed over by the runtime's own search.
  if (reply.length <= bounds.replyInPlaceBytesMax || call.speech.bodies === "openai-images") {
    return { reply, facts: listenerOf(parts).readReply(reply) };
  }
  const endpoint = translation === null ? call.speech.endpoint : null;
  const done = await house.bodies.do("reply", { endpoint, dialect: way.lane.dialect }, reply);
  return { reply: done.body, facts: outcomeOf(done).answer };
}

/** A stream is held back until its first whole event, so that a failure before it can still go elsewhere. */
async function openStream(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { house, call, pick, tally, entry, translation, way } = parts;
  const { provider } = pick.deployment;
  const { firstEventMs, idleMs } = provider.timeouts;
  const tap = tapOf(parts, answer);
  entry.hearsStream(tap);
  const deadlineMs = house.clock.monotonic() + firstEventMs;
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (tap.events === 0) {
    const leftMs = Math.max(1, deadlineMs - house.clock.monotonic());
    const chunk = await answer.body.read("first_event", leftMs);
    if (chunk === null) throw truncated("The upstream's stream ended before its first event.");
    const whole = tap.push(chunk);
    if (whole.length > 0) pieces.push(whole);
    size += whole.length;
    if (tap.events === 0 && size > bounds.eventBytesMax) throw truncated("The upstream sent only comments.");
  }
  if (tap.failure !== null) throw refusedInBand(parts, tap.failure);
  entry.firstByte();
  const first = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const said = answerParts(parts);
  const headers =
    translation === null
      ? answerHeaders(said, answer.headers, parts.warnings.header())
      : translatedHeaders(said, streamType, translation.warnings());
  if (way.lane.framing === "aws-event-stream") headers["content-type"] = streamType;
  passAtOnce(headers);
  const { dialect } = call.speech;
  const stream = new AnswerStream({
    house,
    call,
    dialect,
    entry,
    over: () => tally.end(),
    answer,
    tap,
    first,
    idleMs,
    drains: drains(call, pick),
  });
  return { status: answer.status, headers, body: stream.open() };
}

function refusedInBand({ call }: Parts, told: Failure): Failure {
  const failure = inSafeWords(told).with({ arrival: "refused" });
  if (failure.upstream === undefined) return failure;
  return overloaded({ dialect: call.speech.dialect, requestId: call.requestId }, failure, failure.upstream.status);
}

/** What the upstream goes on with in any case is listened to until its end: it has to be paid for. */
function drains({ facts }: Call, { deployment }: Pick): boolean {
  return facts.background === true || deployment.provider.disconnect === "drain";
}

function answerParts({ house, call, pick, tally, entry }: Parts): AnswerParts {
  return { call, pick, tally, overheadMs: entry.overheadMs, now: house.clock.now() };
}

function refusedBy({ pick, way, entry }: Parts): RefusedBy {
  const { lane, kind } = way;
  const { provider } = pick.deployment;
  const { idleMs } = provider.timeouts;
  const heard = (words: string): void => entry.refusedWith(words);
  return { provider, kind, errorDialect: lane.errorDialect ?? lane.dialect, idleMs, heard };
}

function listenerOf({ call, way, translation }: Parts) {
  return translation === null ? call.speech.wire : upstreamSide(way.lane.dialect).listener;
}

function tapOf(parts: Parts, answer: OutboundAnswer): StreamTap {
  const { call, way, translation } = parts;
  if (isBytes(parts, answer)) {
    const sound = listenerOf(parts).tapBytes?.(call.facts, answer.headers.get("content-type") ?? "");
    if (sound !== undefined) return sound;
  }
  const hideUsage = translation === null && call.facts.stream && !call.facts.wantsUsage;
  const heard = listenerOf(parts).tapStream(hideUsage);
  const tap = way.lane.framing === "aws-event-stream" ? new FramedTap(new AwsEventStream(), heard) : heard;
  return translation === null ? tap : translation.tap(tap);
}

/**
 * A picture is made by the time an upstream's 5xx can be about its delivery, and is charged then; text that breaks is not.
 * What an upstream says of its own state before it begins is as good as a refusal.
 */
function mayHaveMade({ facts }: Call, status: number): boolean {
  return facts.images > 0 && !saidBeforeBeginning.has(status);
}

const saidBeforeBeginning: ReadonlySet<number> = new Set([501, 503, 505, 529]);

/** A caller that waits for one answer cannot be given events; one of the upstream's own dialect gets what it sends. */
function unaskedStream(): Failure {
  return new Failure("upstream_error", "The upstream sent a stream that was not asked for.", {
    retry: "other",
    unwell: true,
  });
}

function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unwell: true });
}

/** Whatever else went wrong at the same time; what is known of the request stays known. */
export function callerGone(thrown: unknown): Failure {
  const { arrival } = asFailure(thrown);
  return new Failure("client_closed", "The caller went away.", { arrival, cause: thrown });
}
