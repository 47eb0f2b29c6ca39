import { asFailure, bounds, Failure, noUsage } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import { AwsEventStream, type ReplyFacts, type StreamTap, upstreamSide } from "#protocols/index.ts";
import type { Pick } from "#routing/index.ts";
import { type AnswerParts, answerHeaders, translatedHeaders } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { Call, Delivery } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import { FramedTap } from "./framed-tap.ts";
import type { RelayHouse } from "./house.ts";
import { ImageTranslation } from "./image-translation.ts";
import { sendAttempt } from "./outbound.ts";
import { type RefusedBy, refusalOf } from "./refusal.ts";
import { bearsSeals, Translation } from "./translation.ts";
import { streamType, type Translator, Warnings } from "./translator.ts";
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
  /** Of a call that is not translated: hardly ever any. */
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
  const attempt = attemptSignal(call, pick);
  const entry = beginEntry(house, call, pick, way, tally);
  try {
    if (house.catalog().settings.ledgerDurability === "strict") await house.journal.synced();
    const translation = translatorOf(house, call, pick, way, tally);
    const parts: Parts = { house, call, pick, tally, way, entry, translation, warnings: new Warnings() };
    const answer = await sendAttempt(house, parts, attempt.signal);
    if (answer.status < 200 || answer.status > 299) {
      throw await refusalOf(
        house,
        { dialect: call.speech.dialect, requestId: call.requestId },
        refusedBy(parts),
        answer,
      );
    }
    const delivery = await (isStream(answer, way) ? openStream(parts, answer) : takeWhole(parts, answer));
    // A stream may last for long; what it answers is not needed any more.
    if (call.body instanceof Uint8Array) call.body = null;
    return delivery;
  } catch (thrown) {
    const failure = call.signal.aborted ? callerGone(thrown) : asFailure(thrown);
    entry.fail(failure);
    throw failure;
  } finally {
    attempt.answered();
  }
}

function translatorOf(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally): Translator | null {
  if (call.speech.bodies === "openai-images") {
    return way.translated ? new ImageTranslation(house, call, pick, way) : null;
  }
  return way.translated || bearsSeals(call) ? new Translation(house, call, pick, way, tally) : null;
}

function beginEntry(house: RelayHouse, call: Call, pick: Pick, way: Way, tally: CallTally): AttemptEntry {
  try {
    return new AttemptEntry(house, call, pick, way, tally);
  } catch (thrown) {
    pick.end("cancelled", 0);
    throw thrown;
  }
}

/**
 * The caller's going away ends the attempt. Where the upstream is to be let finish, that holds only until an answer
 * has begun: from then on the stream itself decides.
 */
function attemptSignal(call: Call, pick: Pick): { readonly signal: AbortSignal; readonly answered: () => void } {
  if (pick.deployment.provider.disconnect === "cancel") return { signal: call.signal, answered: () => {} };
  const own = new AbortController();
  const gone = (): void => own.abort();
  if (call.signal.aborted) own.abort();
  else call.signal.addEventListener("abort", gone, { once: true });
  return { signal: own.signal, answered: () => call.signal.removeEventListener("abort", gone) };
}

function isStream(answer: OutboundAnswer, way: Way): boolean {
  const type = answer.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) return true;
  return way.lane.framing === "aws-event-stream" && type.startsWith("application/vnd.amazon.eventstream");
}

/** A whole reply: read, checked and settled before the caller sees a byte of it. */
async function takeWhole(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { pick, tally, entry, translation } = parts;
  const { idleMs } = pick.deployment.provider.timeouts;
  const reply = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
  const facts = listenerOf(parts).readReply(reply);
  if (facts.errorMessage !== null) {
    throw new Failure("upstream_error", `The upstream reported an error: ${facts.errorMessage}`, {
      retry: "other",
      unwell: true,
    });
  }
  const translated = translation?.whole(reply) ?? null;
  entry.firstByte();
  entry.succeed(answer.status, translated === null ? facts : withImages(facts, translated.images));
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

/**
 * Pictures that only the translated answer shows are counted: they may be what the price is for. Where the upstream does
 * not say what its output is, it is the pictures.
 */
function withImages(facts: ReplyFacts, images: number): ReplyFacts {
  if (images === 0) return facts;
  const { usage, raw } = facts.usage ?? { usage: noUsage, raw: "{}" };
  const output = usage.imageOutput === 0 ? { output: 0, reasoning: 0, imageOutput: usage.output } : {};
  return { ...facts, usage: { usage: { ...usage, ...output, images }, raw } };
}

/** A stream is held back until its first whole event, so that a failure before it can still go elsewhere. */
async function openStream(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { house, call, pick, tally, entry, translation, way } = parts;
  const { firstEventMs } = pick.deployment.provider.timeouts;
  const tap = tapOf(parts);
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
  if (tap.failure !== null) {
    answer.body.cancel();
    throw tap.failure;
  }
  entry.firstByte();
  const first = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  const said = answerParts(parts);
  const headers =
    translation === null
      ? answerHeaders(said, answer.headers, parts.warnings.header())
      : translatedHeaders(said, streamType, translation.warnings());
  if (way.lane.framing === "aws-event-stream") headers["content-type"] = streamType;
  const stream = new AnswerStream({ house, call, pick, tally, entry, answer, tap, first });
  return { status: answer.status, headers, body: stream.open() };
}

function answerParts({ house, call, pick, tally, entry }: Parts): AnswerParts {
  return { call, pick, tally, overheadMs: entry.overheadMs, now: house.clock.now() };
}

function refusedBy({ pick, way }: Parts): RefusedBy {
  const { lane, kind } = way;
  return { kind, errorDialect: lane.errorDialect ?? lane.dialect, idleMs: pick.deployment.provider.timeouts.idleMs };
}

function listenerOf({ call, way, translation }: Parts) {
  return translation === null ? call.speech.wire : upstreamSide(way.lane.dialect).listener;
}

function tapOf(parts: Parts): StreamTap {
  const { call, way, translation } = parts;
  const hideUsage = translation === null && call.facts.stream && !call.facts.wantsUsage;
  const heard = listenerOf(parts).tapStream(hideUsage);
  const tap = way.lane.framing === "aws-event-stream" ? new FramedTap(new AwsEventStream(), heard) : heard;
  return translation === null ? tap : translation.tap(tap);
}

function truncated(message: string): Failure {
  return new Failure("upstream_truncated", message, { retry: "other", unwell: true });
}

function callerGone(thrown: unknown): Failure {
  return new Failure("client_closed", "The caller went away.", { cause: thrown });
}
