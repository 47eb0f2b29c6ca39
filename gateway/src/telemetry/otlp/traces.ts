import { BoundedMap, bounds, type HeaderReader } from "#core/index.ts";
import type { OtlpSampler, Tracing } from "#ports/index.ts";

export interface TracesOptions {
  readonly sampler: OtlpSampler;
  /** Whether `traceparent` is read from callers and sent to upstreams. */
  readonly propagates: boolean;
}

/** Which trace a request belongs to. Only contexts of callers are stored; other ids are derived from the request's id. */
export class Traces implements Tracing {
  readonly #options: TracesOptions;
  readonly #callerContexts = new BoundedMap<string, TraceContext>(bounds.traceContextsMax);
  readonly #taskContexts = new BoundedMap<string, TraceContext>(bounds.taskTracesMax);

  constructor(options: TracesOptions) {
    this.#options = options;
  }

  arrived(requestId: string, headers: Pick<HeaderReader, "get">): void {
    if (!this.#options.propagates) return;
    const traceparent = headers.get("traceparent");
    if (traceparent === null) return;
    const context = readTraceContext(traceparent, headers.get("tracestate"));
    if (context !== null) this.#callerContexts.set(requestId, context);
  }

  outbound(requestId: string, attemptId: string): ReturnType<Tracing["outbound"]> {
    if (!this.#options.propagates) return null;
    const context = this.of(requestId);
    const flags = this.isSampled(context) ? "01" : "00";
    return { traceparent: `00-${context.traceId}-${spanIdFrom(attemptId)}-${flags}`, tracestate: context.traceState };
  }

  traceIdOf(requestId: string): string {
    return this.#callerContext(requestId)?.traceId ?? traceIdFrom(requestId);
  }

  of(requestId: string): TraceContext {
    return this.#callerContext(requestId) ?? new DerivedTrace(requestId);
  }

  /** The request has ended. If it created a task, the trace is kept for the task's span. */
  ended(requestId: string, createdTask: boolean): TraceContext {
    const context = this.of(requestId);
    this.#callerContexts.delete(requestId);
    if (createdTask) this.#taskContexts.set(requestId, context);
    return context;
  }

  /** The trace of the call that created a task; null if that was in another process or too long ago. */
  takeOfTask(requestId: string): TraceContext | null {
    const context = this.#taskContexts.get(requestId) ?? null;
    this.#taskContexts.delete(requestId);
    return context;
  }

  /** Uses the last 56 bits of the trace id, as OpenTelemetry's TraceIdRatioBased does, so that all services decide alike. */
  isSampled({ traceId, parentSampled }: TraceContext): boolean {
    const { parentBased, ratio } = this.#options.sampler;
    if (parentBased && parentSampled !== null) return parentSampled;
    if (ratio >= 1) return true;
    return ratio > 0 && Number.parseInt(traceId.slice(18), 16) < ratio * 2 ** 56;
  }

  #callerContext(requestId: string): TraceContext | null {
    return this.#callerContexts.peek(requestId) ?? null;
  }
}

export interface TraceContext {
  readonly traceId: string;
  /** The id (of a request or task) that the trace id is derived from; null if a caller sent the trace id. */
  readonly sourceId: string | null;
  /** The caller's span; null if the trace begins here. */
  readonly parentSpanId: string | null;
  /** The caller's sampling decision; null if there is none. */
  readonly parentSampled: boolean | null;
  readonly traceState: string | null;
}

/** W3C Trace Context, 3.2: `00-<trace>-<span>-<flags>`; later versions may append fields. null if it is invalid. */
function readTraceContext(traceparent: string, tracestate: string | null): TraceContext | null {
  const found = traceparentPattern.exec(traceparent.trim());
  if (found === null) return null;
  const [, version = "", traceId = "", parentSpanId = "", flags = "", rest = ""] = found;
  if (version === "ff" || (version === "00" && rest !== "")) return null;
  if (zeros.test(traceId) || zeros.test(parentSpanId)) return null;
  return {
    traceId,
    sourceId: null,
    parentSpanId,
    parentSampled: (Number.parseInt(flags, 16) & 1) === 1,
    traceState: stateOf(tracestate),
  };
}

const traceparentPattern = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const zeros = /^0+$/;

function stateOf(tracestate: string | null): string | null {
  const state = tracestate?.trim() ?? "";
  return state === "" || state.length > bounds.traceStateBytesMax || !/^[\x20-\x7e]*$/.test(state) ? null : state;
}

/** A trace that begins here. Its id is formatted only when it is read. */
class DerivedTrace implements TraceContext {
  readonly sourceId: string;
  readonly parentSpanId = null;
  readonly parentSampled = null;
  readonly traceState = null;

  constructor(sourceId: string) {
    this.sourceId = sourceId;
  }

  get traceId(): string {
    return traceIdFrom(this.sourceId);
  }
}

/** A video task may outlive its call by an hour, so it has its own trace. The two traces link to each other. */
export function taskTrace(requestId: string): TraceContext {
  return new DerivedTrace(taskSourceId(requestId));
}

/** The ids of the task's trace and span are derived from it. */
export function taskSourceId(requestId: string): string {
  return `task ${requestId}`;
}

/**
 * Trace and span ids are derived from our own ids. `req_01KX4…` holds 130 bits, of which 128 become the trace id; the last 60 are
 * random, as W3C Trace Context wants of the last seven bytes. Other texts are hashed.
 */
export function traceIdFrom(id: string): string {
  return hex(traceWordsOf(id));
}

export function spanIdFrom(id: string): string {
  return hex(spanWordsOf(id));
}

/** The 16 bytes of the trace id, most significant word first. Read them before the next call: the array is reused. */
export function traceWordsOf(id: string): Int32Array {
  if (parseOwnId(id)) return traceWords;
  lastParsed = null;
  for (let word = 0; word < traceWords.length; word++) traceWords[word] = hashed(id, word + 1);
  return traceWords;
}

/** The 8 bytes of the span id. They are inverted, so that a span id never equals the second half of its trace id. */
export function spanWordsOf(id: string): Int32Array {
  if (parseOwnId(id)) {
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
/** The id in `traceWords`. The log, a record and a span ask for the same one in turn. */
let lastParsed: string | null = null;
const prefixLength = 4;
const ownLength = prefixLength + 26;

/** Returns false if it does not have the form of our ids. */
function parseOwnId(id: string): boolean {
  if (id === lastParsed) return true;
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
  lastParsed = id;
  return true;
}

/** Six digits as a number; negative if one is invalid. */
function thirtyBits(id: string, at: number): number {
  const first = (digit(id, at) << 25) | (digit(id, at + 1) << 20) | (digit(id, at + 2) << 15);
  return first | (digit(id, at + 3) << 10) | (digit(id, at + 4) << 5) | digit(id, at + 5);
}

/** Crockford's base 32; -1 if it is no digit. */
function digit(id: string, at: number): number {
  return digits[id.charCodeAt(at) & 127] ?? -1;
}

const digits = new Int8Array(128).fill(-1);
for (const [value, digit] of [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"].entries()) digits[digit.charCodeAt(0)] = value;

/** Never zero, which W3C Trace Context forbids as an id. */
function hashed(id: string, seed: number): number {
  return Bun.hash.murmur32v3(id, seed) | 0 || 1;
}

function hex(words: Int32Array): string {
  for (let place = 0; place < words.length; place++) hexBytes.writeInt32BE(words[place] as number, place * 4);
  return hexBytes.toString("hex", 0, words.length * 4);
}

const hexBytes = Buffer.alloc(16);
