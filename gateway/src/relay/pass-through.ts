import { outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, Failure } from "#core/index.ts";
import type { OutboundAnswer, OutboundMethod, Spooled } from "#ports/index.ts";
import { AnyTap, AwsEventStream, nothingTold, type ReplyFacts, type StreamTap } from "#protocols/index.ts";
import type { OutboundDraft } from "#providers/index.ts";
import type { Pick } from "#routing/index.ts";
import { type AnswerParts, answerHeaders, passAtOnce } from "./answer-headers.ts";
import { AnswerStream } from "./answer-stream.ts";
import { callerGone } from "./attempt.ts";
import { AttemptEntry } from "./attempt-entry.ts";
import type { Call, Delivery } from "./call.ts";
import type { CallTally } from "./call-tally.ts";
import { FramedTap } from "./framed-tap.ts";
import type { RelayHouse } from "./house.ts";
import { ownIdempotencyKeys } from "./idempotency-key.ts";
import { ListeningTap } from "./listening-tap.ts";
import type { PassedPlace } from "./passed-place.ts";
import type { PassedPrice } from "./passed-price.ts";
import { refusalOf } from "./refusal.ts";
import { forwardedHeaders } from "./request-headers.ts";
import { signalUntilAnswered } from "./signal-until-answered.ts";
import { Warnings } from "./translator.ts";
import type { Way } from "./way.ts";

/** A call for a provider's own API: read as far as it is understood, and passed as it is. */
export interface PassedCall {
  readonly call: Call;
  readonly place: PassedPlace;
  readonly price: PassedPrice;
  /** The body was understood: `call.facts` says what governs it. */
  readonly isRead: boolean;
  readonly method: OutboundMethod;
  /** What its provider's signature goes over is bytes. */
  readonly body: Uint8Array | Spooled | null;
}

interface Parts {
  readonly house: RelayHouse;
  readonly passed: PassedCall;
  readonly pick: Pick;
  readonly tally: CallTally;
  readonly entry: AttemptEntry;
  readonly warnings: Warnings;
}

/**
 * Sends it once, to the one account it is for, and gives its answer as it is. Throws the Failure of a call that has no answer, with
 * its ledger entry settled.
 */
export async function passThrough(house: RelayHouse, passed: PassedCall, tally: CallTally): Promise<Delivery> {
  const { call, place, price } = passed;
  const pick: Pick = { model: price.model, deployment: price.deployment, waitMs: 0, answered() {}, end() {} };
  const attempt = signalUntilAnswered(call.signal, drains(passed));
  tally.attempts++;
  const entry = new AttemptEntry(house, call, pick, wayOf(place), tally);
  try {
    if (house.catalog().settings.ledgerDurability === "strict") await house.journal.synced();
    const warnings = new Warnings(price.by === "unknown" ? [unpriced] : []);
    entry.warnedBy(warnings);
    const parts: Parts = { house, passed, pick, tally, entry, warnings };
    const delivery = await deliver(parts, await send(parts, attempt.signal));
    // A stream may last for long; what it answers is not needed any more.
    call.body = null;
    return delivery;
  } catch (thrown) {
    throw entry.fail(call.signal.aborted ? callerGone(thrown) : asFailure(thrown));
  } finally {
    attempt.answered();
  }
}

const unpriced = "what this call costs is not known: nothing was booked for it";

/** One way, of which only the dialect is of interest. */
function wayOf({ kind, target, speech }: PassedPlace): Way {
  const lane = { endpoint: speech.endpoint, dialect: speech.bodies, path: target.pathClass };
  return { kind, lane, translated: false, traits: {}, adjusts: false };
}

/** A connection of its own: on a kept one the runtime may send a request again by itself. */
async function send({ house, passed, entry }: Parts, signal: AbortSignal): Promise<OutboundAnswer> {
  const { call, place, method } = passed;
  const { provider, kind, target } = place;
  const { upstreamModel } = passed.price.deployment;
  const headers = forwardedHeaders(call.headers, provider);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel });
  headers["x-attempt-id"] = entry.attemptId;
  headers["user-agent"] ??= "sluice";
  for (const name of passed.body === null ? ofDownloads : ofBodies) {
    const value = call.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  const { body } = passed;
  const draft: OutboundDraft = {
    provider,
    upstreamModel,
    stream: call.facts.stream,
    method,
    url: target.url,
    headers,
    body: body instanceof Uint8Array ? body : null,
  };
  const token = kind.tokens === undefined ? null : await house.tokens.tokenOf(provider, kind.tokens, signal);
  const authorized = kind.authorize(draft, { now: house.clock.now(), token });
  if (authorized !== undefined) await authorized;
  entry.sending();
  const { connectMs, headersMs, wholeHeadersMs, totalMs } = provider.timeouts;
  return house.transport.send(
    {
      method,
      url: draft.url,
      headers: draft.headers,
      body: body === null || body instanceof Uint8Array ? body : streamOf(body),
      connectMs,
      headersMs: call.facts.stream ? headersMs : wholeHeadersMs,
      totalMs,
      allowPrivateNetwork: provider.allowPrivateNetwork,
      ownConnection: true,
    },
    signal,
  );
}

const ofBodies = ["content-type", "content-encoding"] as const;
const ofDownloads = ["range"] as const;

function streamOf(body: Spooled) {
  return { size: body.size, open: () => body.read(0, body.size) };
}

async function deliver(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  parts.entry.answered(answer.status);
  try {
    const { status } = answer;
    if (status >= 300 && status <= 399) throw redirected(status);
    if (status < 200 || status > 299) throw await refused(parts, answer);
    return isWhole(parts, answer) ? await takeWhole(parts, answer) : await openStream(parts, answer);
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

/**
 * Its bytes go back as they are, but for keys that it quotes. What the account's credential or credit is refused for, and what the
 * upstream says of its own state, is told in our words.
 */
function refused({ house, passed, entry }: Parts, answer: OutboundAnswer): Promise<Failure> {
  const { call, place } = passed;
  const { provider, kind, target } = place;
  const { dialect } = call.speech;
  const errorDialect = target.lane?.lane.errorDialect ?? call.speech.bodies;
  const heard = (words: string): void => entry.refusedWith(words);
  const by = { provider, kind, errorDialect, idleMs: provider.timeouts.idleMs, heard, asItIs: true };
  return refusalOf(house, { dialect, requestId: call.requestId }, by, answer);
}

/**
 * Following it would show the account's credential to whoever it names; to pass it on would send the caller there with its key of
 * the gateway.
 */
function redirected(status: number): Failure {
  return new Failure(
    "upstream_error",
    `The upstream answered ${status}: redirects are neither followed nor passed on.`,
    {
      arrival: "refused",
    },
  );
}

/** What is understood and comes in one piece is listened to before it is passed. */
function isWhole({ passed }: Parts, { headers }: OutboundAnswer): boolean {
  if (!passed.isRead || passed.method === "HEAD" || headers.has("content-encoding")) return false;
  return /^application\/(?:[\w.+-]*\+)?json/i.test(headers.get("content-type") ?? "");
}

async function takeWhole(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { passed, tally, entry, warnings } = parts;
  const { idleMs } = passed.place.provider.timeouts;
  const read = await answer.body.readAll(bounds.replyBytesMax, "idle", idleMs);
  const { body, facts } = await told(parts, read);
  entry.hearsReply(facts);
  entry.firstByte();
  entry.succeed(answer.status, facts, 0);
  tally.end();
  return { status: answer.status, headers: headersOf(parts, answer, warnings), body };
}

/** What is no reply of the dialect after all is passed like everything else. A large one is listened to in a thread. */
async function told({ house, passed }: Parts, body: Uint8Array): Promise<{ body: Uint8Array; facts: ReplyFacts }> {
  const { endpoint, bodies: dialect, wire } = passed.call.speech;
  if (body.length <= bounds.replyInPlaceBytesMax) return { body, facts: unlessFailed(() => wire.readReply(body)) };
  const done = await house.bodies.do("reply", { endpoint, dialect }, body);
  return { body: done.body, facts: unlessFailed(() => outcomeOf(done).answer) };
}

function unlessFailed(read: () => ReplyFacts): ReplyFacts {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure) return nothingTold;
    throw thrown;
  }
}

/** Begun with its first bytes, so that a failure before them is told in its caller's dialect. */
async function openStream(parts: Parts, answer: OutboundAnswer): Promise<Delivery> {
  const { house, passed, tally, entry, warnings } = parts;
  const { call, place } = passed;
  const { firstEventMs, idleMs } = place.provider.timeouts;
  const tap = tapOf(passed, answer);
  entry.hearsStream(tap);
  const first = await firstBytes(parts, answer, tap, firstEventMs);
  entry.firstByte();
  const headers = headersOf(parts, answer, warnings);
  if (first === null) {
    entry.finish(answer.status, tap);
    tally.end();
    return { status: answer.status, headers, body: noBytes };
  }
  passAtOnce(headers);
  const over = (): void => tally.end();
  const { dialect } = call.speech;
  const drained = drains(passed);
  const stream = new AnswerStream({ house, call, dialect, entry, over, answer, tap, first, idleMs, drains: drained });
  return { status: answer.status, headers, body: stream.open() };
}

/** null: there are none. */
async function firstBytes(
  { house }: Parts,
  answer: OutboundAnswer,
  tap: StreamTap,
  limitMs: number,
): Promise<Uint8Array | null> {
  const deadlineMs = house.clock.monotonic() + limitMs;
  const pieces: Uint8Array[] = [];
  let size = 0;
  while (tap.events === 0 && size <= bounds.eventBytesMax) {
    const chunk = await answer.body.read("first_event", Math.max(1, deadlineMs - house.clock.monotonic()));
    if (chunk === null) break;
    const whole = tap.push(chunk);
    size += whole.length;
    pieces.push(whole);
  }
  // A dialect's events that never came to one are an answer that broke off.
  if (tap.events === 0 && tap.isRaw !== true) {
    throw new Failure("upstream_truncated", "The upstream's stream ended before its first event.", { unwell: true });
  }
  return tap.events === 0 ? null : Buffer.concat(pieces);
}

/** Events of a dialect that is understood go event by event; everything else as it comes. */
function tapOf({ call, place, isRead }: PassedCall, { headers }: OutboundAnswer): StreamTap {
  const { wire } = call.speech;
  const type = headers.get("content-type") ?? "";
  if (!isRead || headers.has("content-encoding")) return new AnyTap();
  if (type.startsWith("text/event-stream")) return wire.tapStream(false);
  if (type.startsWith("application/vnd.amazon.eventstream") && place.target.lane?.lane.framing !== undefined) {
    return new ListeningTap(new FramedTap(new AwsEventStream(), wire.tapStream(false)));
  }
  return wire.tapBytes?.(call.facts, type) ?? new AnyTap();
}

function drains({ place }: PassedCall): boolean {
  return place.provider.disconnect === "drain";
}

function headersOf(parts: Parts, answer: OutboundAnswer, warnings: Warnings): Record<string, string> {
  const { house, passed, pick, tally, entry } = parts;
  const said: AnswerParts = { call: passed.call, pick, tally, overheadMs: entry.overheadMs, now: house.clock.now() };
  const headers = answerHeaders(said, answer.headers, warnings.header());
  for (const name of ofAnswers) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  if (pick.deployment.id === "") delete headers["x-sluice-deployment"];
  return headers;
}

/** What a download says of itself. */
const ofAnswers = [
  "content-encoding",
  "content-disposition",
  "content-range",
  "content-language",
  "accept-ranges",
  "last-modified",
] as const;

const noBytes = new Uint8Array(0);
