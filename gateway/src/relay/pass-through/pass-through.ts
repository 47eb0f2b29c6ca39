import { outcomeOf, unpack } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure } from "#core/index.ts";
import type { OutboundAnswer } from "#ports/index.ts";
import {
  isAwsEventStreamType,
  isEventStreamType,
  isJsonType,
  noReplyFacts,
  RawTap,
  type ReplyFacts,
  type ReplyReader,
  type StreamTap,
  tapAwsEventStream,
  type UsageReading,
  upstreamSide,
  withoutByteOrderMark,
} from "#protocols/index.ts";
import { accountRedactor, type OutboundDraft } from "#providers/index.ts";
import type { Selection } from "#routing/index.ts";
import { answerHeaders } from "../attempt/answer-headers.ts";
import type { AttemptParts, CallTally } from "../attempt/call-tally.ts";
import type { LaneMatch } from "../attempt/lane-match.ts";
import { addAttemptHeaders, copyHeaders, forwardedHeaders } from "../attempt/outbound.ts";
import { openStream, readWhole } from "../attempt/receive-answer.ts";
import { type AttemptListener, RunningAttempt } from "../attempt/run-attempt.ts";
import { inSafeWords, refusalOf } from "../attempt/upstream-refusal.ts";
import type { Delivery, RelayDependencies } from "../call.ts";
import type { PassThroughCall, PassThroughRoute } from "./pass-through-call.ts";
import { addUploadHeaders, madeObjects, makesObjects, objectsOfHead } from "./pass-through-objects.ts";

/** Sends the call once, to the one account that it names, and returns the answer unchanged. Throws Failure. */
export function passThrough(
  dependencies: RelayDependencies,
  passed: PassThroughCall,
  tally: CallTally,
): Promise<Delivery> {
  const { call, route, price } = passed;
  const selection: Selection = {
    model: price.model,
    deployment: price.deployment,
    waitMs: 0,
    answered() {},
    streamed() {},
    end() {},
  };
  const parts = { dependencies, call, selection, match: matchOfPath(route), tally };
  return new Promise((onDelivery, onFailure) => {
    const attempt = new PassThroughAttempt(parts, passed, { onDelivery, onFailure });
    if (price.by === "unknown") attempt.warnings.add(unpriced);
    attempt.start();
  });
}

class PassThroughAttempt extends RunningAttempt {
  readonly passed: PassThroughCall;

  constructor(parts: Omit<AttemptParts, "warnings">, passed: PassThroughCall, listener: AttemptListener) {
    super(parts, listener);
    this.passed = passed;
  }

  protected send(signal: CallSignal): Promise<void> {
    return send(this, signal);
  }

  protected deliver(answer: OutboundAnswer): Promise<Delivery> {
    return deliver(this, answer);
  }
}

const unpriced = "the cost of this call is unknown: nothing was charged for it";

/** Only the dialect is used, and how the account counts tokens on this path. */
function matchOfPath({ provider, kind, target, protocol }: PassThroughRoute): LaneMatch {
  const lane = { endpoint: protocol.endpoint, dialect: protocol.wireDialect, path: target.pathClass };
  const called = target.lane?.lane;
  const usage = called?.traitsOf?.(provider).usage ?? called?.traits?.usage;
  const traits = usage === undefined ? {} : { usage };
  return { kind, lane, translated: false, traits, adjusts: false, url: null, streamUrl: null };
}

async function send(attempt: PassThroughAttempt, signal: CallSignal): Promise<void> {
  const { dependencies, call, passed, entry } = attempt;
  const { route, method, body } = passed;
  const { provider, kind, target } = route;
  const { stream } = call.facts;
  const headers = forwardedHeaders(call.headers, provider);
  addAttemptHeaders(headers, attempt, entry.attemptId);
  copyHeaders(headers, call.headers, body === null ? ofDownloads : ofBodies);
  const bytes = body instanceof Uint8Array ? body : null;
  const { upstreamModel } = passed.price.deployment;
  const draft: OutboundDraft = { provider, upstreamModel, stream, method, url: target.url, headers, body: bytes };
  await dependencies.providerClient.authorize(kind, draft, signal);
  entry.sending();
  const sent =
    body === null || body instanceof Uint8Array ? body : { size: body.size, open: () => body.read(0, body.size) };
  // On a kept connection the runtime may send a request again.
  dependencies.providerClient.begin(draft, { ...provider.timeouts, ownConnection: true }, signal, sent, attempt);
}

const ofBodies = ["content-type", "content-encoding"] as const;
const ofDownloads = ["range"] as const;

async function deliver(parts: PassThroughAttempt, answer: OutboundAnswer): Promise<Delivery> {
  parts.entry.answered(answer.status, answer.headers);
  try {
    const { status } = answer;
    if (status >= 300 && status <= 399) throw redirected(status);
    if (status < 200 || status > 299) throw await refused(parts, answer);
    const { entry, passed, dependencies } = parts;
    entry.kept.passed(objectsOfHead(passed, answer.headers, dependencies.clock.now()));
    return isWhole(parts, answer) ? await takeWhole(parts, answer) : await passStream(parts, answer);
  } catch (thrown) {
    answer.body.cancel();
    throw thrown;
  }
}

function refused({ dependencies, passed, entry }: PassThroughAttempt, answer: OutboundAnswer): Promise<Failure> {
  const { call, route } = passed;
  const { provider, kind, target } = route;
  const errorDialect = target.lane?.lane.errorDialect ?? call.protocol.wireDialect;
  return refusalOf(dependencies, call, { provider, kind, errorDialect, entry, asItIs: true }, answer);
}

/** Following it would send the account's credential to the target; passing it on, the caller's key of the gateway. */
function redirected(status: number): Failure {
  return new Failure(
    "upstream_error",
    `The upstream answered ${status}: redirects are neither followed nor passed on.`,
    { arrival: "refused" },
  );
}

/** Whole answers of paths with a lane are read before they are passed on. */
function isWhole({ passed }: PassThroughAttempt, { headers }: OutboundAnswer): boolean {
  if (passed.method === "HEAD") return false;
  const type = headers.get("content-type") ?? "";
  if (passed.route.target.lane === null || passed.body === null) {
    return isRecorded(passed, headers) && !headers.has("content-encoding") && isJsonType(type);
  }
  return type === "" || isJsonType(type) || /^text\/(?:plain|json|html)\b/i.test(type);
}

/** The answer may contain the id of a new object, which only its workspace may use. */
function isRecorded(passed: PassThroughCall, headers: OutboundAnswer["headers"]): boolean {
  const length = Number(headers.get("content-length") ?? 0);
  return makesObjects(passed) && length <= bounds.replyInPlaceBytesMax;
}

function listenerOf({ route, call }: PassThroughCall): ReplyReader {
  const { lane } = route.target;
  return route.isRead || lane === null ? call.protocol.wire : upstreamSide(lane.lane.dialect).replyReader;
}

function takeWhole(parts: PassThroughAttempt, answer: OutboundAnswer): Promise<Delivery> {
  const { dependencies, passed, tally, entry } = parts;
  const { idleMs } = passed.route.provider.timeouts;
  return readWhole(dependencies.memory, passed.call.principal, { answer, idleMs }, async (read) => {
    if (!passed.isRead && makesObjects(passed) && read.length <= bounds.replyInPlaceBytesMax) {
      entry.kept.passed(madeObjects(passed, read));
    }
    const { body, facts } = await readReply(parts, read, answer.headers.get("content-encoding") ?? "identity");
    entry.money.reply = facts;
    entry.succeed(answer.status, facts, 0);
    entry.warnUnpriced();
    tally.end();
    const isError = facts.errorMessage !== null || facts.status === "failed";
    const shown = isError ? entry.redactor.bytes(body) : body;
    return { status: answer.status, headers: headersOf(parts, answer), body: shown };
  });
}

/** Answers that are no reply of the dialect are passed on all the same. Large ones are read in a thread. */
async function readReply(
  { dependencies, passed, match }: PassThroughAttempt,
  body: Uint8Array,
  encoding: string,
): Promise<{ body: Uint8Array; facts: ReplyFacts }> {
  const { endpoint, wireDialect: dialect } = passed.call.protocol;
  const { usage } = match.traits;
  const isPacked = encoding !== "identity";
  if (!isPacked && body.length > bounds.replyInPlaceBytesMax && passed.route.isRead) {
    const done = await dependencies.bodies.do("reply", { endpoint, dialect, usage }, body, {
      owner: passed.call.principal,
    });
    return { body: done.body, facts: unlessFailed(() => outcomeOf(done).answer) };
  }
  const plain = isPacked ? unpackedAnswer(body, encoding) : body;
  // The usage of an answer that cannot be unpacked is estimated by its size.
  if (plain === null) return { body, facts: { ...noReplyFacts, outputEstimate: Math.ceil(body.length / 2) } };
  return { body, facts: unlessFailed(() => listenerOf(passed).readReply(withoutByteOrderMark(plain), usage)) };
}

function unlessFailed(read: () => ReplyFacts): ReplyFacts {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure) return noReplyFacts;
    throw thrown;
  }
}

async function passStream(parts: PassThroughAttempt, answer: OutboundAnswer): Promise<Delivery> {
  const tap = await tapOf(parts, answer);
  return await openStream(parts, answer, {
    tap,
    begun: () => true,
    check(cut) {
      // Only a stream of events needs an event.
      if (cut === null || tap.isRaw === true) return;
      const message = "The upstream's stream ended before its first event.";
      throw new Failure("upstream_truncated", message, { unhealthy: true });
    },
    headers: () => headersOf(parts, answer),
    inStream: inSafeWords,
  });
}

/** Events of the path's dialect are passed one by one, everything else as it comes. */
async function tapOf({ passed, match }: PassThroughAttempt, { headers }: OutboundAnswer): Promise<StreamTap> {
  const { call, route, body } = passed;
  const wire = listenerOf(passed);
  const type = headers.get("content-type") ?? "";
  const encoding = headers.get("content-encoding") ?? "identity";
  if (route.target.lane === null || body === null) return new RawTap();
  if (isEventStreamType(type)) {
    const tap = wire.tapStream(false, match.traits.usage);
    if (encoding !== "identity") return new PackedTap(tap, encoding);
    return passed.isRead ? tap : new RawTap(tap);
  }
  if (encoding !== "identity") return new RawTap();
  if (isAwsEventStreamType(type) && route.target.lane?.lane.framing !== undefined) {
    return new RawTap(await tapAwsEventStream(wire.tapStream(false)));
  }
  return (passed.isRead ? wire.tapBytes?.(call.facts, type) : null) ?? new RawTap();
}

function headersOf(parts: PassThroughAttempt, answer: OutboundAnswer): Record<string, string> {
  const headers = answerHeaders(parts, answer.headers);
  const redactor = accountRedactor(parts.selection.deployment.provider);
  for (const name of parts.passed.method === "HEAD" ? ofHeads : ofAnswers) {
    const value = answer.headers.get(name);
    if (value !== null) headers[name] = redactor.header(value);
  }
  if (parts.selection.deployment.id === "") delete headers["x-sluice-deployment"];
  if (parts.passed.route.target.isUpload) addUploadHeaders(headers, answer.headers);
  return headers;
}

const ofAnswers = [
  "content-encoding",
  "content-disposition",
  "content-range",
  "content-language",
  "accept-ranges",
  "last-modified",
] as const;

const ofHeads = [...ofAnswers, "content-length"] as const;

/** Passes a packed stream as it comes, and reads its usage at its end. The usage of a long one is estimated by its bytes. */
class PackedTap extends RawTap {
  readonly #encoding: string;
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  constructor(inner: StreamTap, encoding: string) {
    super(inner);
    this.#encoding = encoding;
  }

  protected override listen(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    // The caller takes over the buffer of the chunk.
    if (this.#bytes <= packedMax) this.#chunks.push(chunk.slice());
    else this.#chunks = [];
  }

  override get usage(): UsageReading | null {
    this.#unpack();
    return super.usage;
  }

  /** Packed text has two bytes or more to the token. */
  override get outputEstimate(): number {
    return super.usage === null ? Math.ceil(this.#bytes / 2) : super.outputEstimate;
  }

  override get contentSeen(): boolean {
    return this.#bytes > 0;
  }

  override complete(): boolean {
    this.#unpack();
    return true;
  }

  /** Fails until the stream has ended. Each try unpacks everything so far. */
  #unpack(): void {
    if (this.#chunks.length === 0) return;
    const unpacked = unpackedAnswer(Buffer.concat(this.#chunks), this.#encoding);
    if (unpacked === null) return;
    this.#chunks = [];
    super.listen(unpacked);
  }
}

/** Unpacking blocks the event loop. */
const unpackedMax = Math.min(8 * 1024 * 1024, bounds.replyBytesMax);
/** Packed bytes of a stream that are stored until its end. */
const packedMax = 1024 * 1024;

/** null: it cannot be unpacked, or is too large. */
function unpackedAnswer(bytes: Uint8Array, encoding: string): Uint8Array | null {
  if (bytes.length > packedMax) return null;
  try {
    return unpack(bytes, encoding.trim().toLowerCase(), unpackedMax);
  } catch {
    return null;
  }
}
