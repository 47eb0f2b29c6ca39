import { BoundedMap, bounds, type LedgerEntry, nanoToUsd } from "#core/index.ts";
import type { AttemptSums, Clock } from "#ports/index.ts";
import { type AccessLine, callerFields, shownPath, shownSentence, tenths } from "../access-log.ts";
import { causeOf } from "../attempt-metrics.ts";
import { maskText } from "../redacted.ts";
import { errorTypeOf, operationOf, tokenCounts } from "./gen-ai-names.ts";
import { AttributeList, attributeName, type LogFields, SharedFields, SharedFieldsCache } from "./record-fields.ts";
import { BytesStore, type LogBytes } from "./request-bytes.ts";
import { askedModel } from "./span-attributes.ts";
import type { ToldAttempt } from "./span-maker.ts";
import type { TraceContext, Traces } from "./traces.ts";

/** What records are made of: a line of the log as it is written, what the line of a request says, or what was said in a call. */
export type LogEvent = string | AccessLine | Omit<ToldAttempt, "message">;

const severities: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** Makes records of lines. Credentials are in neither. */
export class LogMaker {
  readonly #traces: Traces | null;
  readonly #clock: Pick<Clock, "now">;
  readonly #own = new AttributeList();
  readonly #cache = new SharedFieldsCache(isSameLine, sharedOfLine);
  readonly #addresses = new BoundedMap<string, string>(bounds.accessLogTextsMax);

  constructor(traces: Traces | null, clock: Pick<Clock, "now">) {
    this.#traces = traces;
    this.#clock = clock;
  }

  /** To be read before the next one is made. null: it is no line of ours. */
  recordOf(event: LogEvent): LogFields | null {
    if (typeof event === "string") return this.#ofLine(event);
    return "content" in event ? contentEvent(event, this.#traces, this.#clock.now()) : this.#ofRequest(event);
  }

  #ofRequest(line: AccessLine): LogFields {
    const { end, level, atMs } = line;
    const trace = this.#traces?.of(end.requestId) ?? null;
    const own = this.#own.clear();
    own.add(names.requestId, end.requestId);
    own.add(names.totalMs, tenths(end.totalMs));
    own.add(names.address, this.#address(end.address));
    if (end.path != null) own.add(names.path, shownPath(end.path));
    if (end.message != null) own.add(names.message, shownSentence(end.message));
    if (end.attempts !== undefined && end.attempts.last !== null) addAttempts(own, end.attempts, end.attempts.last);
    return {
      atMs,
      observedMs: atMs,
      level,
      severity: severities[level] ?? 0,
      body: "request",
      eventName: null,
      trace,
      sampled: this.#isSampled(trace),
      of: end.requestId,
      shared: this.#cache.get(end.principal?.key.id ?? end.key ?? "", line),
      own,
      attributes: none,
      dropped: 0,
    };
  }

  /** The same few come again and again. */
  #address(address: string): string {
    const known = this.#addresses.get(address);
    if (known !== undefined) return known;
    const shown = shortened(address);
    this.#addresses.set(address, shown);
    return shown;
  }

  #ofLine(line: string): LogFields | null {
    const members = membersOf(line);
    if (members === null) return null;
    const { level, time, msg, instance: _, trace_id: traceId, ...attributes } = members;
    const { requestId } = attributes;
    const nowMs = this.#clock.now();
    const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
    const isLong = line.length > bounds.logRecordCharactersMax;
    const trace = typeof requestId === "string" ? this.#traceOf(requestId, traceId) : null;
    return {
      atMs: Number.isNaN(atMs) ? nowMs : atMs,
      observedMs: nowMs,
      level: String(level),
      severity: severities[String(level)] ?? 0,
      body: String(msg).slice(0, bounds.logTextMax),
      trace,
      sampled: this.#isSampled(trace),
      of: typeof requestId === "string" ? requestId : "",
      ...{ shared: null, own: null },
      eventName: typeof attributes["event"] === "string" ? attributes["event"] : null,
      attributes: isLong ? none : attributes,
      dropped: isLong ? Object.keys(attributes).length : 0,
    };
  }

  #isSampled(trace: TraceContext | null): boolean {
    return trace !== null && this.#traces?.isSampled(trace) === true;
  }

  /** That of the line where it says one: the request may be over. */
  #traceOf(requestId: string, said: unknown): TraceContext | null {
    const known = this.#traces?.of(requestId) ?? null;
    if (known === null || typeof said !== "string" || said === known.traceId) return known;
    return { traceId: said, root: null, parentSpanId: null, parentSampled: null, traceState: null };
  }
}

const none: Readonly<Record<string, unknown>> = {};

const names = {
  requestId: attributeName("requestId"),
  totalMs: attributeName("totalMs"),
  address: attributeName("address"),
  path: attributeName("path"),
  message: attributeName("message"),
  attempts: attributeName("attempts"),
  firstByteMs: attributeName("firstByteMs"),
  inputTokens: attributeName("inputTokens"),
  outputTokens: attributeName("outputTokens"),
  costUsd: attributeName("costUsd"),
} as const;

function addAttempts(own: AttributeList, sums: AttemptSums, { startedAfterMs, firstByteMs }: LedgerEntry): void {
  own.add(names.attempts, sums.count);
  if (firstByteMs !== null) own.add(names.firstByteMs, tenths(startedAfterMs + firstByteMs));
  own.add(names.inputTokens, sums.inputTokens);
  own.add(names.outputTokens, sums.outputTokens);
  own.add(names.costUsd, nanoToUsd(sums.costNanoUsd));
}

/** What `sharedOfLine` reads. */
function isSameLine({ end: one, level }: AccessLine, { end: other, level: its }: AccessLine): boolean {
  return (
    level === its &&
    one.key === other.key &&
    one.principal === other.principal &&
    one.outcome === other.outcome &&
    one.attempts?.last?.provider === other.attempts?.last?.provider &&
    one.attempts?.last?.deployment === other.attempts?.last?.deployment &&
    one.attempts?.last?.upstreamStatus === other.attempts?.last?.upstreamStatus &&
    one.attempts?.last?.stream === other.attempts?.last?.stream &&
    one.attempts?.fault?.cause === other.attempts?.fault?.cause &&
    one.route === other.route &&
    one.status === other.status &&
    one.model === other.model &&
    one.error === other.error &&
    one.method === other.method
  );
}

function sharedOfLine({ end }: AccessLine): SharedFields {
  const { method, route, status, outcome, model, error, attempts } = end;
  const last = attempts?.last ?? null;
  const cause = last === null ? "" : causeOf(last, attempts?.fault);
  return new SharedFields({
    method: shortened(method),
    ...{ route, status, outcome },
    ...callerFields(end),
    ...{ provider: last?.provider, deployment: last?.deployment, stream: last?.stream },
    upstreamStatus: last?.upstreamStatus,
    cause: cause === "" ? null : cause,
    model: model === null ? null : shortened(model),
    error,
  });
}

function shortened(text: string): string {
  return maskText(text.slice(0, bounds.accessLogTextMax));
}

function membersOf(line: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Records that wait to be sent. Each is written as soon as its line is. */
export class LogStore extends BytesStore<LogBytes> {
  readonly #maker: LogMaker;

  constructor(maker: LogMaker, row: LogBytes, onContentLost: () => void) {
    super(row, onContentLost);
    this.#maker = maker;
  }

  put(event: LogEvent): void {
    if (typeof event !== "string" && "content" in event && this.losesContent()) return;
    const record = this.#maker.recordOf(event);
    if (record !== null) this.row.put(record);
  }
}

const severity = { level: "info", severity: 9 } as const;

/** What was said in a call, as the event that the GenAI conventions have for it; it belongs to the span of the attempt that answered. */
function contentEvent(
  { entry, content }: Omit<ToldAttempt, "message">,
  traces: Traces | null,
  nowMs: number,
): LogFields {
  const { system, input, output, truncated } = content;
  const trace = traces?.of(entry.requestId) ?? null;
  return {
    ...{ atMs: nowMs, observedMs: nowMs, ...severity, body: "" },
    eventName: "gen_ai.client.inference.operation.details",
    trace,
    sampled: trace !== null && traces?.isSampled(trace) === true,
    of: entry.attemptId,
    ...{ shared: null, own: null, dropped: 0 },
    attributes: {
      ...facts(entry),
      ...(system === null ? {} : { "gen_ai.system_instructions": structured(system) }),
      ...(input === null ? {} : { "gen_ai.input.messages": structured(input) }),
      ...(output === null ? {} : { "gen_ai.output.messages": structured(output) }),
      ...(truncated ? { "sluice.content.truncated": true } : {}),
    },
  };
}

function facts(entry: LedgerEntry): Record<string, unknown> {
  const { input, output } = tokenCounts(entry.usage);
  const errorType = errorTypeOf(entry);
  return {
    "gen_ai.operation.name": operationOf(entry.endpoint),
    "gen_ai.request.model": askedModel(entry),
    ...(entry.upstreamId === null ? {} : { "gen_ai.response.id": entry.upstreamId }),
    ...(entry.usageSource === "none"
      ? {}
      : { "gen_ai.usage.input_tokens": input, "gen_ai.usage.output_tokens": output }),
    ...(errorType === null ? {} : { "error.type": errorType }),
    "sluice.request.id": entry.requestId,
    "sluice.attempt.id": entry.attemptId,
    "sluice.provider": entry.provider,
    "sluice.model": entry.model,
  };
}

/** Lists and objects, as the conventions ask of events; what callers nest deeper than anybody reads stays a text. */
function structured(json: string): unknown {
  return isShallow(json) ? JSON.parse(json) : json;
}

function isShallow(json: string): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const letter = json.charCodeAt(at);
    if (inText) {
      if (letter === backslash) at++;
      else if (letter === quote) inText = false;
    } else if (letter === quote) inText = true;
    else if (letter === openList || letter === openObject) {
      if (++depth > bounds.contentDepthMax) return false;
    } else if (letter === closeList || letter === closeObject) depth--;
  }
  return true;
}

const [quote, backslash, openList, closeList, openObject, closeObject] = [34, 92, 91, 93, 123, 125] as const;
