import { outcomeOf, unpack } from "#bodies/index.ts";
import { bounds, type CallSignal, Failure, type HeaderReader } from "#core/index.ts";
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
import type { CallTally } from "../attempt/call-tally.ts";
import type { LaneMatch } from "../attempt/lane-match.ts";
import { addAttemptHeaders, copyHeaders, forwardedHeaders } from "../attempt/outbound.ts";
import { openStream, readWhole } from "../attempt/receive-answer.ts";
import { RunningAttempt } from "../attempt/run-attempt.ts";
import { inSafeWords, refusalOf } from "../attempt/upstream-refusal.ts";
import type { Delivery, RelayDependencies } from "../call.ts";
import { withOwnNames } from "../vendor-objects/object-bodies.ts";
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
  return new Promise((onDelivery, onFailure) => {
    const listener = { onDelivery, onFailure };
    const attempt = new PassThroughAttempt(passed, dependencies, call, selection, matchOfPath(route), tally, listener);
    if (price.by === "unknown") attempt.warnings.add(unpriced);
    attempt.start();
  });
}

class PassThroughAttempt extends RunningAttempt {
  readonly #passed: PassThroughCall;

  constructor(passed: PassThroughCall, ...parts: ConstructorParameters<typeof RunningAttempt>) {
    super(...parts);
    this.#passed = passed;
  }

  protected async send(signal: CallSignal): Promise<void> {
    const { route, method, body, form, price } = this.#passed;
    const { provider, kind, target } = route;
    const { upstreamModel } = price.deployment;
    const { stream } = this.call.facts;
    const { providerClient, beforeSending } = this.dependencies;
    const headers = forwardedHeaders(this.call.headers, provider);
    addAttemptHeaders(headers, this, this.entry.attemptId);
    copyHeaders(headers, this.call.headers, body === null ? ofDownloads : ofBodies);
    const bytes = body instanceof Uint8Array ? body : null;
    const draft: OutboundDraft = { provider, upstreamModel, stream, method, url: target.url, headers, body: bytes };
    await providerClient.authorize(kind, draft, signal);
    this.entry.sending();
    const sent =
      form ??
      (body === null || body instanceof Uint8Array ? body : { size: body.size, open: () => body.read(0, body.size) });
    // On a kept connection the runtime may send a request again.
    const limits = { ...provider.timeouts, ownConnection: true, beforeSending };
    providerClient.begin(draft, limits, signal, sent, this);
  }

  protected async deliver(answer: OutboundAnswer): Promise<Delivery> {
    const { status, headers } = answer;
    this.entry.answered(status, headers);
    try {
      if (status >= 300 && status <= 399) throw redirected(status);
      if (status < 200 || status > 299) throw await this.#refusal(answer);
      this.entry.kept.passed(objectsOfHead(this.#passed, headers, this.dependencies.clock.now()));
      return this.#isWhole(headers) ? await this.#passWhole(answer) : await this.#passStream(answer);
    } catch (thrown) {
      answer.body.cancel();
      throw thrown;
    }
  }

  #refusal(answer: OutboundAnswer): Promise<Failure> {
    const { dependencies, call, entry } = this;
    const { provider, kind, target } = this.#passed.route;
    const errorDialect = target.lane?.lane.errorDialect ?? call.protocol.wireDialect;
    return refusalOf(dependencies, call, { provider, kind, errorDialect, entry, asItIs: true }, answer);
  }

  /** Whole answers of paths with a lane are read before they are passed on. */
  #isWhole(headers: HeaderReader): boolean {
    const { method, route, body } = this.#passed;
    if (method === "HEAD") return false;
    const type = headers.get("content-type") ?? "";
    if (this.#passed.isAnswerChecked === true && (isJsonType(type) || /^text\/(?!event-stream)/i.test(type)))
      return true;
    if (route.target.lane !== null && body !== null) {
      return type === "" || isJsonType(type) || /^text\/(?:plain|json|html)\b/i.test(type);
    }
    // The answer may contain the id of a new object, which only its workspace may use.
    const isShort = Number(headers.get("content-length") ?? 0) <= bounds.replyInPlaceBytesMax;
    const isRead = makesObjects(this.#passed) || this.#passed.fileNames !== undefined;
    return isRead && isShort && !headers.has("content-encoding") && isJsonType(type);
  }

  #passWhole(answer: OutboundAnswer): Promise<Delivery> {
    const { dependencies, call, tally, entry } = this;
    const { isRead, route } = this.#passed;
    const { status } = answer;
    const { idleMs } = route.provider.timeouts;
    return readWhole(dependencies.memory, call.principal, { answer, idleMs }, async (read) => {
      if (!isRead && makesObjects(this.#passed) && read.length <= bounds.replyInPlaceBytesMax) {
        entry.kept.passed(madeObjects(this.#passed, read));
      }
      const { body, facts } = await this.#readReply(withOwnNames(read, this.#passed), encodingOf(answer));
      entry.money.reply = facts;
      entry.succeed(status, facts, 0);
      entry.warnUnpriced();
      tally.end();
      const isError = facts.errorMessage !== null || facts.status === "failed";
      return { status, headers: this.#headersOf(answer), body: isError ? entry.redactor.bytes(body) : body };
    });
  }

  /** Answers that are no reply of the dialect are passed on all the same. Large ones are read in a thread. */
  async #readReply(body: Uint8Array, encoding: string): Promise<{ body: Uint8Array; facts: ReplyFacts }> {
    const { principal, protocol } = this.call;
    const { usage } = this.match.traits;
    const isPacked = encoding !== "identity";
    if (!isPacked && body.length > bounds.replyInPlaceBytesMax && this.#passed.route.isRead) {
      const ask = { endpoint: protocol.endpoint, dialect: protocol.wireDialect, usage };
      const done = await this.dependencies.bodies.do("reply", ask, body, { owner: principal });
      return { body: done.body, facts: unlessFailed(() => outcomeOf(done).answer) };
    }
    const plain = isPacked ? unpackedAnswer(body, encoding) : body;
    // The usage of an answer that cannot be unpacked is estimated by its size.
    if (plain === null) return { body, facts: { ...noReplyFacts, outputEstimate: Math.ceil(body.length / 2) } };
    return { body, facts: unlessFailed(() => this.#replyReader().readReply(withoutByteOrderMark(plain), usage)) };
  }

  #replyReader(): ReplyReader {
    const { isRead, target } = this.#passed.route;
    const { lane } = target;
    return isRead || lane === null ? this.call.protocol.wire : upstreamSide(lane.lane.dialect).replyReader;
  }

  async #passStream(answer: OutboundAnswer): Promise<Delivery> {
    const tap = await this.#tapOf(answer);
    return await openStream(this, answer, {
      tap,
      begun: () => true,
      check(cut) {
        // Only a stream of events needs an event.
        if (cut === null || tap.isRaw === true) return;
        const message = "The upstream's stream ended before its first event.";
        throw new Failure("upstream_truncated", message, { unhealthy: true });
      },
      headers: () => this.#headersOf(answer),
      inStream: inSafeWords,
    });
  }

  /** Events of the path's dialect are passed one by one, everything else as it comes. */
  async #tapOf(answer: OutboundAnswer): Promise<StreamTap> {
    const { isRead, route, body } = this.#passed;
    const { lane } = route.target;
    if (lane === null || body === null) return new RawTap();
    const reader = this.#replyReader();
    const type = answer.headers.get("content-type") ?? "";
    const encoding = encodingOf(answer);
    if (isEventStreamType(type)) {
      const tap = reader.tapStream(false, this.match.traits.usage);
      if (encoding !== "identity") return new PackedTap(tap, encoding);
      return isRead ? tap : new RawTap(tap);
    }
    if (encoding !== "identity") return new RawTap();
    if (isAwsEventStreamType(type) && lane.lane.framing !== undefined) {
      return new RawTap(await tapAwsEventStream(reader.tapStream(false)));
    }
    return (isRead ? reader.tapBytes?.(this.call.facts, type) : null) ?? new RawTap();
  }

  #headersOf(answer: OutboundAnswer): Record<string, string> {
    const { deployment } = this.selection;
    const { method, route } = this.#passed;
    const headers = answerHeaders(this, answer.headers);
    const redactor = accountRedactor(deployment.provider);
    for (const name of method === "HEAD" ? ofHeads : ofAnswers) {
      const value = answer.headers.get(name);
      if (value !== null) headers[name] = redactor.header(value);
    }
    if (deployment.id === "") delete headers["x-sluice-deployment"];
    if (route.target.isUpload) addUploadHeaders(headers, answer.headers);
    return headers;
  }
}

const unpriced = "the cost of this call is unknown: nothing was charged for it";
const ofBodies = ["content-type", "content-encoding"] as const;
const ofDownloads = ["range"] as const;

function encodingOf({ headers }: OutboundAnswer): string {
  return headers.get("content-encoding") ?? "identity";
}

/** Only the dialect is used, and how the account counts tokens on this path. */
function matchOfPath({ provider, kind, target, protocol }: PassThroughRoute): LaneMatch {
  const lane = { endpoint: protocol.endpoint, dialect: protocol.wireDialect, path: target.pathClass };
  const called = target.lane?.lane;
  const usage = called?.traitsOf?.(provider).usage ?? called?.traits?.usage;
  const traits = usage === undefined ? {} : { usage };
  return { kind, lane, translated: false, traits, adjusts: false, url: null, streamUrl: null };
}

/** Following it would send the account's credential to the target; passing it on, the caller's key of the gateway. */
function redirected(status: number): Failure {
  const message = `The upstream answered ${status}: redirects are neither followed nor passed on.`;
  return new Failure("upstream_error", message, { arrival: "refused" });
}

function unlessFailed(read: () => ReplyFacts): ReplyFacts {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof Failure) return noReplyFacts;
    throw thrown;
  }
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
