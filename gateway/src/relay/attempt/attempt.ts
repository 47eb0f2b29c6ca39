import { outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  errorInReply,
  inputUsage,
  isAwsEventStreamType,
  isEmbeddingDialect,
  isEmbeddingEndpoint,
  isEventStreamType,
  openAwsEventStream,
  type ReplyFacts,
  type StreamTap,
  upstreamSide,
  withoutMark,
} from "#protocols/index.ts";
import type { Selection } from "#routing/index.ts";
import type { Call, Delivery } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { CompletionTranslation } from "../translation/completion-translation.ts";
import { EmbeddingTranslation } from "../translation/embedding-translation.ts";
import { ImageTranslation } from "../translation/image-translation.ts";
import { Translation } from "../translation/translation.ts";
import { streamType, type TranslatedAnswer, type Translator, Warnings } from "../translation/translator.ts";
import { type AnswerHeaderOptions, answerHeaders, passAtOnce, translatedHeaders } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import { truncated, unaskedPacking, unaskedStream } from "./bad-answers.ts";
import type { CallTally } from "./call-tally.ts";
import type { HeldEvents } from "./event-memory.ts";
import { FramedTap } from "./framed-tap.ts";
import { type LaneMatch, matchLane } from "./lane-match.ts";
import { sendAttempt } from "./outbound.ts";
import { signalUntilAnswered } from "./signal-until-answered.ts";
import { refusalInStream } from "./stream-refusal.ts";
import { readStreamStart } from "./stream-start.ts";
import { type RefusedBy, refusalOf } from "./upstream-refusal.ts";
import { writtenAhead } from "./written-ahead.ts";

/** What one attempt works with. */
interface AttemptDependencies {
  readonly dependencies: RelayDependencies;
  readonly call: Call;
  readonly selection: Selection;
  readonly tally: CallTally;
  readonly match: LaneMatch;
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
export async function openAttempt(
  dependencies: RelayDependencies,
  call: Call,
  selection: Selection,
  tally: CallTally,
): Promise<Delivery> {
  const match = matchLane(selection.deployment, call.protocol);
  if (match === null) {
    selection.end("cancelled", 0);
    throw new Failure("unsupported_by_model", `The model "${selection.model.name}" cannot be used on this endpoint.`, {
      param: "model",
      retry: "other",
      arrival: "unsent",
    });
  }
  tally.attempts++;
  const attempt = signalUntilAnswered(call.signal, drains(call, selection));
  const entry = beginEntry(dependencies, call, selection, match, tally);
  try {
    const written = writtenAhead(dependencies);
    if (written !== null) await written;
    const translation = translatorOf(dependencies, call, selection, match, tally);
    const warnings = translation?.warned ?? new Warnings();
    entry.warnedBy(warnings);
    const options: AttemptDependencies = { dependencies, call, selection, tally, match, entry, translation, warnings };
    const answer = await sendAttempt(dependencies, options, attempt.signal);
    if (translation?.searches === true) entry.searches();
    const delivering = deliver(options, answer);
    const delivery = delivering instanceof Promise ? await delivering : delivering;
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
function deliver(options: AttemptDependencies, answer: OutboundAnswer): Delivery | Promise<Delivery> {
  options.entry.answered(answer.status, answer.headers);
  const { status } = answer;
  if (status < 200 || status > 299 || isStream(answer, options.match) || isBytes(options, answer))
    return deliverLater(options, answer);
  try {
    const read = answer.body.arrived?.(Math.min(bounds.replyBytesMax, bounds.replyInPlaceBytesMax)) ?? null;
    if (read === null) return deliverLater(options, answer);
    return takeHeard(options, answer, { reply: read, facts: readFacts(options, read) });
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

async function deliverLater(options: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const { dependencies, call, match } = options;
  try {
    if (answer.status >= 200 && answer.status <= 299) {
      if (isPacked(answer)) throw unaskedPacking();
      if (!isStream(answer, match) && !isBytes(options, answer)) return await takeWhole(options, answer);
      if (options.translation !== null && !call.facts.stream) throw unaskedStream();
      return await openStream(options, answer);
    }
    const spokenTo = { dialect: call.protocol.dialect, requestId: call.requestId, facts: call.facts };
    const refusal = await refusalOf(dependencies, spokenTo, refusedBy(options), answer);
    throw answer.status >= 500 && mayHaveMade(call, answer.status) ? refusal.with({ arrival: "unknown" }) : refusal;
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

function translatorOf(
  dependencies: RelayDependencies,
  call: Call,
  selection: Selection,
  match: LaneMatch,
  tally: CallTally,
): Translator | null {
  if (call.protocol.wireDialect === "openai-images") {
    return match.translated ? new ImageTranslation(dependencies, call, selection, match) : null;
  }
  const { endpoint } = call.protocol;
  const { dialect } = match.lane;
  if (match.translated && isEmbeddingEndpoint(endpoint) && isEmbeddingDialect(dialect)) {
    return new EmbeddingTranslation(dependencies, call, selection, { endpoint, dialect });
  }
  if (match.translated && dialect === "mistral-fim") return new CompletionTranslation(dependencies, call, selection);
  return match.translated ? new Translation(dependencies, call, selection, match, tally) : null;
}

function beginEntry(
  dependencies: RelayDependencies,
  call: Call,
  selection: Selection,
  match: LaneMatch,
  tally: CallTally,
): AttemptEntry {
  try {
    return new AttemptEntry(dependencies, call, selection, match, tally);
  } catch (thrown) {
    selection.end("cancelled", 0);
    throw thrown;
  }
}

function isStream(answer: OutboundAnswer, match: LaneMatch): boolean {
  const type = answer.headers.get("content-type") ?? "";
  return isEventStreamType(type) || (match.lane.framing === "aws-event-stream" && isAwsEventStreamType(type));
}

/** A sound: neither JSON nor events, passed on as it is made. */
function isBytes(options: AttemptDependencies, answer: OutboundAnswer): boolean {
  if (listenerOf(options).tapBytes === undefined) return false;
  return !/^(?:text\/|application\/(?:[\w.+-]*\+)?json)/i.test(answer.headers.get("content-type") ?? "");
}

/** A whole reply: read, checked and settled before the caller sees a byte of it. */
async function takeWhole(options: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const { idleMs } = options.selection.deployment.provider.timeouts;
  const held = options.dependencies.answers.open();
  try {
    const read = await held.read(answer, idleMs);
    const taken = takeHeard(options, answer, await heard(options, read));
    return taken instanceof Promise ? await taken : taken;
  } finally {
    held.release();
  }
}

function takeHeard(options: AttemptDependencies, answer: OutboundAnswer, read: Heard): Delivery | Promise<Delivery> {
  const { entry, translation } = options;
  const { reply, facts } = counted(read, options.match, answer);
  entry.hearsReply(facts);
  if (facts.errorMessage !== null) throw inStream(options)(errorInReply(reply, facts.errorMessage));
  const made = translation?.whole(reply, facts) ?? null;
  return made instanceof Promise
    ? made.then((translated) => succeeded(options, answer, { reply, facts }, translated))
    : succeeded(options, answer, { reply, facts }, made);
}

function succeeded(
  options: AttemptDependencies,
  answer: OutboundAnswer,
  { reply, facts }: Heard,
  translated: TranslatedAnswer | null,
): Delivery {
  const { tally, entry, translation } = options;
  entry.succeed(answer.status, facts, translated?.images ?? 0);
  entry.warnUnpriced();
  tally.end();
  const said = answerHeaderOptions(options);
  if (translated === null || translation === null) {
    return {
      status: answer.status,
      headers: answerHeaders(said, answer.headers, options.warnings.header()),
      body: reply,
    };
  }
  const headers = translatedHeaders(said, translated.contentType, translation.warnings());
  return { status: 200, headers, body: translated.body };
}

/** An upstream may say in a header what its body leaves out. */
function counted(read: Heard, { lane }: LaneMatch, { headers }: OutboundAnswer): Heard {
  if (read.facts.usage?.untold !== "input") return read;
  const tokens = lane.inputTokensIn?.(headers) ?? null;
  return tokens === null ? read : { ...read, facts: { ...read.facts, usage: inputUsage(tokens) } };
}

interface Heard {
  readonly reply: Uint8Array;
  readonly facts: ReplyFacts;
}

/** What a whole reply says of itself. A large one is listened to in a thread, and comes back from there. */
async function heard(options: AttemptDependencies, reply: Uint8Array): Promise<Heard> {
  const { dependencies, call, match, translation } = options;
  // Pictures are passed over by the runtime's own search.
  if (reply.length <= bounds.replyInPlaceBytesMax || call.protocol.wireDialect === "openai-images") {
    return { reply, facts: readFacts(options, reply) };
  }
  const endpoint = translation === null ? call.protocol.endpoint : null;
  const done = await dependencies.bodies.do(
    "reply",
    { endpoint, dialect: match.lane.dialect, usage: match.traits.usage },
    reply,
  );
  return { reply: done.body, facts: outcomeOf(done).answer };
}

/** A stream is held back until its first content, so that a failure before it can still go elsewhere. */
async function openStream(options: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const place = options.dependencies.events.open();
  try {
    return await openStreamAt(place, options, answer);
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

async function openStreamAt(
  place: HeldEvents,
  options: AttemptDependencies,
  answer: OutboundAnswer,
): Promise<Delivery> {
  const { dependencies, call, selection, tally, entry, translation, match } = options;
  const { clock } = dependencies;
  const { provider } = selection.deployment;
  const { firstEventMs, idleMs } = provider.timeouts;
  const made = tapOf(options, answer);
  const tap = made instanceof Promise ? await made : made;
  entry.hearsStream(tap);
  const start = await readStreamStart({
    ...{ clock, answer, tap, place, firstEventMs, idleMs },
    // What an upstream makes in the background it goes on making: nobody else may be asked for it.
    begun: ({ contentSeen }) => contentSeen || call.facts.background === true,
  });
  if (start.cut === "too long") throw truncated("The upstream sent only comments.");
  const whole = start.cut === null || tap.complete();
  if (tap.failure !== null && !tap.contentSeen) throw inStream(options)(tap.failure);
  if (!whole || (start.cut !== null && tap.events === 0))
    throw truncated("The upstream's stream ended before its first content.");
  entry.begin(tap);
  const said = answerHeaderOptions(options);
  const headers =
    translation === null
      ? answerHeaders(said, answer.headers, options.warnings.header())
      : translatedHeaders(said, streamType, translation.warnings());
  if (match.lane.framing === "aws-event-stream") headers["content-type"] = streamType;
  passAtOnce(headers);
  const { dialect } = call.protocol;
  const stream = new AnswerStream({
    dependencies,
    call,
    dialect,
    entry,
    over: () => tally.end(),
    answer,
    tap,
    start,
    place,
    idleMs,
    inStream: translation === null ? inStream(options) : (told) => told,
    drains: drains(call, selection),
  });
  return { status: answer.status, headers, body: stream.open() };
}

function inStream(options: AttemptDependencies): (told: Failure) => Failure {
  const { protocol, requestId } = options.call;
  return (told) => refusalInStream({ dialect: protocol.dialect, requestId }, refusedBy(options), told);
}

/** What the upstream goes on with in any case is listened to until its end: it has to be paid for. */
function drains({ facts }: Call, { deployment }: Selection): boolean {
  return facts.background === true || deployment.provider.disconnect === "drain";
}

function answerHeaderOptions({
  dependencies,
  call,
  selection,
  tally,
  entry,
}: AttemptDependencies): AnswerHeaderOptions {
  return {
    call,
    selection,
    tally,
    overheadMs: entry.overheadMs,
    costNanoUsd: entry.costNanoUsd,
    now: dependencies.clock.now(),
  };
}

function refusedBy({ selection, match, entry }: AttemptDependencies): RefusedBy {
  const { lane, kind } = match;
  const { provider } = selection.deployment;
  const { idleMs } = provider.timeouts;
  const heard = (words: string): void => entry.refusedWith(words);
  return { provider, kind, errorDialect: lane.errorDialect ?? lane.dialect, idleMs, heard };
}

function readFacts(options: AttemptDependencies, reply: Uint8Array): ReplyFacts {
  return listenerOf(options).readReply(withoutMark(reply), options.match.traits.usage);
}

function listenerOf({ call, match, translation }: AttemptDependencies) {
  return translation === null ? call.protocol.wire : upstreamSide(match.lane.dialect).listener;
}

function tapOf(options: AttemptDependencies, answer: OutboundAnswer): StreamTap | Promise<StreamTap> {
  const { call, match, translation } = options;
  if (isBytes(options, answer)) {
    const sound = listenerOf(options).tapBytes?.(call.facts, answer.headers.get("content-type") ?? "");
    if (sound !== undefined) return sound;
  }
  const hideUsage = translation === null && call.facts.stream && !call.facts.wantsUsage;
  const heard = listenerOf(options).tapStream(hideUsage, match.traits.usage);
  const outer = (tap: StreamTap): StreamTap => (translation === null ? tap : translation.tap(tap, inStream(options)));
  if (match.lane.framing !== "aws-event-stream") return outer(heard);
  return openAwsEventStream().then((frames) => outer(new FramedTap(frames, heard)));
}

/**
 * A picture is made by the time an upstream's 5xx can be about its delivery, and is charged then; text that breaks is not.
 * What an upstream says of its own state before it begins is as good as a refusal.
 */
function mayHaveMade({ facts }: Call, status: number): boolean {
  return facts.images > 0 && !saidBeforeBeginning.has(status);
}

const saidBeforeBeginning: ReadonlySet<number> = new Set([501, 503, 505, 529]);

/** Every upstream is told that nobody here unpacks. Some servers put the encoding of their letters there. */
function isPacked({ headers }: OutboundAnswer): boolean {
  const encoding = headers.get("content-encoding");
  return encoding !== null && /\b(?:gzip|deflate|br|zstd|compress)\b/i.test(encoding);
}

/** Whatever else went wrong at the same time; what is known of the request stays known. */
export function callerGone(thrown: unknown): Failure {
  const { arrival } = asFailure(thrown);
  return new Failure("client_closed", "The caller went away.", { arrival, cause: thrown });
}
