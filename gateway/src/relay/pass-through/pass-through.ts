import { outcomeOf } from "#bodies/index.ts";
import { asFailure, bounds, type CallSignal, Failure } from "#core/index.ts";
import type { OutboundAnswer, Spooled } from "#ports/index.ts";
import {
  AnyTap,
  isAwsEventStreamType,
  isEventStreamType,
  isJsonType,
  type Listener,
  nothingTold,
  openAwsEventStream,
  type ReplyFacts,
  type StreamTap,
  type UsageConvention,
  upstreamSide,
  withoutMark,
} from "#protocols/index.ts";
import type { RequestClocks } from "#provider-client/index.ts";
import type { OutboundDraft } from "#providers/index.ts";
import type { Selection } from "#routing/index.ts";
import { type AnswerHeaderOptions, answerHeaders, passAtOnce } from "../attempt/answer-headers.ts";
import { AnswerStream } from "../attempt/answer-stream.ts";
import { callerGone } from "../attempt/attempt.ts";
import { AttemptEntry } from "../attempt/attempt-entry.ts";
import type { CallTally } from "../attempt/call-tally.ts";
import type { HeldEvents } from "../attempt/event-memory.ts";
import { FramedTap } from "../attempt/framed-tap.ts";
import { ownIdempotencyKeys } from "../attempt/idempotency-key.ts";
import type { LaneMatch } from "../attempt/lane-match.ts";
import { ListeningTap } from "../attempt/listening-tap.ts";
import { continueTrace, forwardedHeaders } from "../attempt/request-headers.ts";
import { signalUntilAnswered } from "../attempt/signal-until-answered.ts";
import { readStreamStart } from "../attempt/stream-start.ts";
import { refusalOf } from "../attempt/upstream-refusal.ts";
import { inSafeWords } from "../attempt/upstream-words.ts";
import { writtenAhead } from "../attempt/written-ahead.ts";
import type { Delivery } from "../call.ts";
import type { RelayDependencies } from "../dependencies.ts";
import { Warnings } from "../translation/translator.ts";
import { PackedTap, unpackedAnswer } from "./packed-answer.ts";
import { changesObjects, passedObjects } from "./passed-objects.ts";
import type { PassedPlace } from "./passed-place.ts";
import type { PassedCall } from "./passed-price.ts";

interface AttemptDependencies {
  readonly dependencies: RelayDependencies;
  readonly passed: PassedCall;
  readonly selection: Selection;
  readonly tally: CallTally;
  readonly entry: AttemptEntry;
  readonly warnings: Warnings;
}

/**
 * Sends it once, to the one account it is for, and gives its answer as it is. Throws the Failure of a call that has no answer, with
 * its ledger entry settled.
 */
export async function passThrough(
  dependencies: RelayDependencies,
  passed: PassedCall,
  tally: CallTally,
): Promise<Delivery> {
  const { call, place, price } = passed;
  const selection: Selection = { model: price.model, deployment: price.deployment, waitMs: 0, answered() {}, end() {} };
  const attempt = signalUntilAnswered(call.signal, drains(passed));
  tally.attempts++;
  const entry = new AttemptEntry(dependencies, call, selection, laneOfPassed(place), tally);
  try {
    const written = writtenAhead(dependencies);
    if (written !== null) await written;
    const warnings = new Warnings(price.by === "unknown" ? [unpriced] : []);
    entry.warnedBy(warnings);
    const parts: AttemptDependencies = { dependencies, passed, selection, tally, entry, warnings };
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
function laneOfPassed({ kind, target, protocol }: PassedPlace): LaneMatch {
  const lane = { endpoint: protocol.endpoint, dialect: protocol.wireDialect, path: target.pathClass };
  return { kind, lane, translated: false, traits: {}, adjusts: false };
}

/** A connection of its own: on a kept one the runtime may send a request again by itself. */
async function send({ dependencies, passed, entry }: AttemptDependencies, signal: CallSignal): Promise<OutboundAnswer> {
  const { call, place, method } = passed;
  const { provider, kind, target } = place;
  const { upstreamModel } = passed.price.deployment;
  const headers = forwardedHeaders(call.headers, provider);
  ownIdempotencyKeys(headers, { workspaceId: call.principal.workspace.id, upstreamModel });
  const { attemptId } = entry;
  continueTrace(headers, dependencies.tracing, { requestId: call.requestId, attemptId, provider });
  headers["x-attempt-id"] = attemptId;
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
  await dependencies.providerClient.authorize(kind, draft, signal);
  entry.sending();
  const { connectMs, headersMs, totalMs } = provider.timeouts;
  const clocks: RequestClocks = {
    connectMs,
    headersMs,
    totalMs,
    ownConnection: true,
  };
  return dependencies.providerClient.send(
    draft,
    clocks,
    signal,
    body === null || body instanceof Uint8Array ? body : streamOf(body),
  );
}

const ofBodies = ["content-type", "content-encoding"] as const;
const ofDownloads = ["range"] as const;

function streamOf(body: Spooled) {
  return { size: body.size, open: () => body.read(0, body.size) };
}

async function deliver(parts: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  parts.entry.answered(answer.status, answer.headers);
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
function refused({ dependencies, passed, entry }: AttemptDependencies, answer: OutboundAnswer): Promise<Failure> {
  const { call, place } = passed;
  const { provider, kind, target } = place;
  const { dialect } = call.protocol;
  const errorDialect = target.lane?.lane.errorDialect ?? call.protocol.wireDialect;
  const heard = (words: string): void => entry.refusedWith(words);
  const by = { provider, kind, errorDialect, idleMs: provider.timeouts.idleMs, heard, asItIs: true };
  return refusalOf(dependencies, { dialect, requestId: call.requestId }, by, answer);
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

/** What comes in one piece from a path that is known is listened to before it is passed, whatever its type says. */
function isWhole({ passed }: AttemptDependencies, { headers }: OutboundAnswer): boolean {
  if (passed.method === "HEAD") return false;
  const type = headers.get("content-type") ?? "";
  if (passed.place.target.lane === null || passed.body === null) {
    return isRecorded(passed, headers) && !headers.has("content-encoding") && isJsonType(type);
  }
  return type === "" || isJsonType(type) || /^text\/(?:plain|json|html)\b/i.test(type);
}

/** It may have made something that only its workspace may use. What is made is told in few words. */
function isRecorded(passed: PassedCall, headers: OutboundAnswer["headers"]): boolean {
  const length = Number(headers.get("content-length") ?? 0);
  return changesObjects(passed) && length <= bounds.replyInPlaceBytesMax;
}

/** How the answers of a path are listened to, also where its requests are not understood. */
function listenerOf({ place, call }: PassedCall): Listener {
  const { lane } = place.target;
  return place.isRead || lane === null ? call.protocol.wire : upstreamSide(lane.lane.dialect).listener;
}

async function takeWhole(parts: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const { passed, tally, entry, warnings } = parts;
  const { idleMs } = passed.place.provider.timeouts;
  const held = parts.dependencies.answers.open();
  try {
    const read = await held.read(answer, idleMs);
    if (!passed.isRead && changesObjects(passed) && read.length <= bounds.replyInPlaceBytesMax) {
      entry.kept.passed(passedObjects(passed, read, parts.dependencies.clock.now()));
    }
    const encoding = answer.headers.get("content-encoding") ?? "identity";
    const { body, facts } =
      encoding === "identity" ? await told(parts, read) : { body: read, facts: toldPacked(parts, read, encoding) };
    entry.hearsReply(facts);
    entry.succeed(answer.status, facts, 0);
    entry.warnUnpriced();
    tally.end();
    return { status: answer.status, headers: headersOf(parts, answer, warnings), body };
  } finally {
    held.release();
  }
}

/** What is no reply of the dialect after all is passed like everything else. A large one is listened to in a thread. */
async function told(
  { dependencies, passed }: AttemptDependencies,
  body: Uint8Array,
): Promise<{ body: Uint8Array; facts: ReplyFacts }> {
  const { endpoint, wireDialect: dialect } = passed.call.protocol;
  const usage = usageConvention(passed.place);
  if (body.length <= bounds.replyInPlaceBytesMax || !passed.place.isRead) {
    return { body, facts: unlessFailed(() => listenerOf(passed).readReply(withoutMark(body), usage)) };
  }
  const done = await dependencies.bodies.do("reply", { endpoint, dialect, usage }, body);
  return { body: done.body, facts: unlessFailed(() => outcomeOf(done).answer) };
}

/** The bytes go on as they are. What cannot be unpacked is estimated by its size. */
function toldPacked({ passed }: AttemptDependencies, body: Uint8Array, encoding: string): ReplyFacts {
  const unpacked = unpackedAnswer(body, encoding);
  if (unpacked === null) return { ...nothingTold, outputEstimate: Math.ceil(body.length / 2) };
  return unlessFailed(() => listenerOf(passed).readReply(withoutMark(unpacked), usageConvention(passed.place)));
}

/** How the account counts tokens on the path that was called. */
function usageConvention({ provider, target }: PassedPlace): UsageConvention | undefined {
  const lane = target.lane?.lane;
  return lane?.traitsOf?.(provider).usage ?? lane?.traits?.usage;
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
async function openStream(parts: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const place = parts.dependencies.events.open();
  try {
    return await openStreamAt(place, parts, answer);
  } catch (thrown) {
    place.release();
    throw thrown;
  }
}

async function openStreamAt(held: HeldEvents, parts: AttemptDependencies, answer: OutboundAnswer): Promise<Delivery> {
  const { dependencies, passed, tally, entry, warnings } = parts;
  const { clock } = dependencies;
  const { call, place } = passed;
  const { firstEventMs, idleMs } = place.provider.timeouts;
  const made = tapOf(passed, answer);
  const tap = made instanceof Promise ? await made : made;
  entry.hearsStream(tap);
  const start = await readStreamStart({
    ...{ clock, answer, tap, place: held, firstEventMs, idleMs },
    begun: () => true,
  });
  // A dialect's events that never came to one are an answer that broke off; of anything else there may be no bytes at all.
  if (start.cut !== null && tap.isRaw !== true) {
    throw new Failure("upstream_truncated", "The upstream's stream ended before its first event.", { unhealthy: true });
  }
  entry.begin(tap);
  const headers = headersOf(parts, answer, warnings);
  if (start.cut !== null) {
    entry.finish(answer.status, tap);
    tally.end();
    return { status: answer.status, headers, body: noBytes };
  }
  passAtOnce(headers);
  const over = (): void => tally.end();
  const { dialect } = call.protocol;
  const drained = drains(passed);
  const stream = new AnswerStream({
    dependencies,
    call,
    dialect,
    entry,
    over,
    answer,
    tap,
    start,
    inStream: inSafeWords,
    place: held,
    idleMs,
    drains: drained,
  });
  return { status: answer.status, headers, body: stream.open() };
}

/** Events of a dialect that is understood go event by event; everything else as it comes. */
function tapOf(passed: PassedCall, { headers }: OutboundAnswer): StreamTap | Promise<StreamTap> {
  const { call, place, body } = passed;
  const wire = listenerOf(passed);
  const type = headers.get("content-type") ?? "";
  const encoding = headers.get("content-encoding") ?? "identity";
  if (place.target.lane === null || body === null) return new AnyTap();
  if (isEventStreamType(type)) {
    const tap = wire.tapStream(false, usageConvention(place));
    if (encoding !== "identity") return new PackedTap(tap, encoding);
    return passed.isRead ? tap : new ListeningTap(tap);
  }
  if (encoding !== "identity") return new AnyTap();
  if (isAwsEventStreamType(type) && place.target.lane?.lane.framing !== undefined) {
    return openAwsEventStream().then((frames) => new ListeningTap(new FramedTap(frames, wire.tapStream(false))));
  }
  return (passed.isRead ? wire.tapBytes?.(call.facts, type) : null) ?? new AnyTap();
}

function drains({ call, place }: PassedCall): boolean {
  return call.facts.background === true || place.provider.disconnect === "drain";
}

function headersOf(parts: AttemptDependencies, answer: OutboundAnswer, warnings: Warnings): Record<string, string> {
  const { dependencies, passed, selection, tally, entry } = parts;
  const said: AnswerHeaderOptions = {
    call: passed.call,
    selection,
    tally,
    overheadMs: entry.overheadMs,
    costNanoUsd: entry.costNanoUsd,
    now: dependencies.clock.now(),
  };
  const headers = answerHeaders(said, answer.headers, warnings.header());
  for (const name of passed.method === "HEAD" ? ofHeads : ofAnswers) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  if (selection.deployment.id === "") delete headers["x-sluice-deployment"];
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

/** And of one that nobody fetches now: how long it is. */
const ofHeads = [...ofAnswers, "content-length"] as const;

const noBytes = new Uint8Array(0);
