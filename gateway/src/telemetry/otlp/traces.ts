import { BoundedMap, bounds, type HeaderReader } from "#core/index.ts";
import type { OtlpSampler, Tracing } from "#ports/index.ts";

export interface TracesOptions {
  readonly sampler: OtlpSampler;
  /** False: what callers say of traces is neither read nor changed. */
  readonly propagates: boolean;
}

/** Which trace a request belongs to. Only what callers say is remembered; all else follows from the request's id. */
export class Traces implements Tracing {
  readonly #options: TracesOptions;
  readonly #told = new BoundedMap<string, TraceContext>(bounds.traceContextsMax);
  readonly #ofTasks = new BoundedMap<string, TraceContext>(bounds.taskTracesMax);

  constructor(options: TracesOptions) {
    this.#options = options;
  }

  arrived(requestId: string, headers: Pick<HeaderReader, "get">): void {
    if (!this.#options.propagates) return;
    const traceparent = headers.get("traceparent");
    if (traceparent === null) return;
    const context = readTraceContext(traceparent, headers.get("tracestate"));
    if (context !== null) this.#told.set(requestId, context);
  }

  outbound(requestId: string, attemptId: string): ReturnType<Tracing["outbound"]> {
    if (!this.#options.propagates) return null;
    const context = this.of(requestId);
    const flags = this.isSampled(context) ? "01" : "00";
    return { traceparent: `00-${context.traceId}-${spanIdFrom(attemptId)}-${flags}`, tracestate: context.traceState };
  }

  traceIdOf(requestId: string): string {
    return this.#toldOf(requestId)?.traceId ?? traceIdFrom(requestId);
  }

  of(requestId: string): TraceContext {
    return this.#toldOf(requestId) ?? rootOf(requestId);
  }

  /** The request is over. Of one that began a task the trace is remembered for that. */
  ended(requestId: string, beganTask: boolean): TraceContext {
    const context = this.of(requestId);
    if (this.#told.size > 0) this.#told.delete(requestId);
    if (beganTask) this.#ofTasks.set(requestId, context);
    return context;
  }

  /** The trace of the call that began a task; null: it was in another process, or too long ago. */
  takeOfTask(requestId: string): TraceContext | null {
    const context = this.#ofTasks.get(requestId) ?? null;
    if (context !== null) this.#ofTasks.delete(requestId);
    return context;
  }

  /** OpenTelemetry's TraceIdRatioBased looks at the trace's last 56 bits, so that all who take part decide alike. */
  isSampled({ traceId, parentSampled }: TraceContext): boolean {
    const { parentBased, ratio } = this.#options.sampler;
    if (parentBased && parentSampled !== null) return parentSampled;
    if (ratio >= 1) return true;
    return ratio > 0 && Number.parseInt(traceId.slice(18), 16) < ratio * 2 ** 56;
  }

  /** What the caller said; null: nothing, or its call is over. */
  #toldOf(requestId: string): TraceContext | null {
    return this.#told.size === 0 ? null : (this.#told.peek(requestId) ?? null);
  }
}

/** Where a request stands among the traces. */
export interface TraceContext {
  readonly traceId: string;
  /** The id of ours that the trace's follows from; null: it is a caller's. */
  readonly root: string | null;
  /** The caller's span; null: the trace begins here. */
  readonly parentSpanId: string | null;
  /** What the caller decided; null: there is no caller who did. */
  readonly parentSampled: boolean | null;
  readonly traceState: string | null;
}

/**
 * W3C Trace Context, 3.2: `00-<trace>-<span>-<flags>`. null: it is none, and the trace begins here. A later version may go on behind
 * the flags.
 */
function readTraceContext(traceparent: string, tracestate: string | null): TraceContext | null {
  const found = traceparentPattern.exec(traceparent.trim());
  if (found === null) return null;
  const [, version = "", traceId = "", parentSpanId = "", flags = "", rest = ""] = found;
  if (version === "ff" || (version === "00" && rest !== "")) return null;
  if (zeros.test(traceId) || zeros.test(parentSpanId)) return null;
  return {
    traceId,
    root: null,
    parentSpanId,
    parentSampled: (Number.parseInt(flags, 16) & 1) === 1,
    traceState: stateOf(tracestate),
  };
}

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

/** Passed on as it is, or not at all. */
function stateOf(tracestate: string | null): string | null {
  const said = tracestate?.trim() ?? "";
  return said === "" || said.length > bounds.traceStateBytesMax || !/^[\x20-\x7e]*$/.test(said) ? null : said;
}

/** A trace that begins here. Its id is put into words only for those who read words. */
function rootOf(id: string): TraceContext {
  return new RootTrace(id);
}

class RootTrace implements TraceContext {
  readonly root: string;
  readonly parentSpanId = null;
  readonly parentSampled = null;
  readonly traceState = null;

  constructor(root: string) {
    this.root = root;
  }

  get traceId(): string {
    return traceIdFrom(this.root);
  }
}

/** A video task may last for an hour after its call was answered: it has a trace of its own, and each links to the other. */
export function taskTrace(requestId: string): TraceContext {
  return rootOf(taskId(requestId));
}

/** What the ids of the task's trace and span follow from. */
export function taskId(requestId: string): string {
  return `task ${requestId}`;
}

/**
 * Ids of traces and spans follow from our own. `req_01KX4…` holds 130 bits, of which the last 60 are random, as W3C Trace Context asks of
 * the last seven bytes: all but two of them are the trace's id. Other texts are hashed.
 */
export function traceIdFrom(id: string): string {
  return hex(traceWordsOf(id));
}

export function spanIdFrom(id: string): string {
  return hex(spanWordsOf(id));
}

/** The 16 bytes of it, most significant word first. To be read before the next id is asked for. */
export function traceWordsOf(id: string): Int32Array {
  if (readOwn(id)) return traceWords;
  last = null;
  for (let word = 0; word < traceWords.length; word++) traceWords[word] = hashed(id, word + 1);
  return traceWords;
}

/** The 8 bytes of it. No span has the last half of its trace's id: whoever reads them would take it for that. */
export function spanWordsOf(id: string): Int32Array {
  if (readOwn(id)) {
    spanWords[0] = ~(traceWords[2] ?? 0) || 1;
    spanWords[1] = ~(traceWords[3] ?? 0) || 1;
  } else {
    spanWords[0] = hashed(id, 5);
    spanWords[1] = hashed(id, 6);
  }
  return spanWords;
}

const traceWords = new Int32Array(4);
const spanWords = new Int32Array(2);
/** The one of ours whose words stand there: the log, a record and a span ask for the same one after the other. */
let last: string | null = null;
const prefixLength = 4;
const ownLength = prefixLength + 26;

/** False: it is none of ours. */
function readOwn(id: string): boolean {
  if (id === last) return true;
  if (id.length !== ownLength) return false;
  const a = thirtyBits(id, prefixLength);
  const b = thirtyBits(id, prefixLength + 6);
  const c = thirtyBits(id, prefixLength + 12);
  const d = thirtyBits(id, prefixLength + 18);
  const e = (digit(id, ownLength - 2) << 5) | digit(id, ownLength - 1);
  if ((a | b | c | d | e) < 0) return false;
  traceWords[0] = (a << 4) | (b >>> 26) || 1;
  traceWords[1] = (b << 6) | (c >>> 24) || 1;
  traceWords[2] = (c << 8) | (d >>> 22);
  traceWords[3] = (d << 10) | e;
  last = id;
  return true;
}

/** Of six digits. Negative where one is none. */
function thirtyBits(id: string, at: number): number {
  const first = (digit(id, at) << 25) | (digit(id, at + 1) << 20) | (digit(id, at + 2) << 15);
  return first | (digit(id, at + 3) << 10) | (digit(id, at + 4) << 5) | digit(id, at + 5);
}

/** Crockford's base 32; -1: it is no digit. */
function digit(id: string, at: number): number {
  return digits[id.charCodeAt(at) & 127] ?? -1;
}

const digits = new Int8Array(128).fill(-1);
for (const [value, letter] of [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"].entries()) digits[letter.charCodeAt(0)] = value;

/** Never zero, which would be no id. */
function hashed(id: string, seed: number): number {
  return Bun.hash.murmur32v3(id, seed) | 0 || 1;
}

/** One text, and not one that is put together of many when somebody reads it. */
function hex(words: Int32Array): string {
  for (let place = 0; place < words.length; place++) hexBytes.writeInt32BE(words[place] as number, place * 4);
  return hexBytes.toString("hex", 0, words.length * 4);
}

const hexBytes = Buffer.alloc(16);
