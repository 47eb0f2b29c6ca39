import { BoundedMap, bounds, type LedgerEntry, nanoToUsd } from "#core/index.ts";
import type { AttemptSums, Clock } from "#ports/index.ts";
import { type AccessLine, callerFields, shownPath, shownSentence, tenths } from "../access-log.ts";
import { causeOf } from "../attempt-metrics.ts";
import { maskText } from "../redacted.ts";
import { errorTypeOf, operationOf, tokenCounts } from "./gen-ai-names.ts";
import { AttributeList, type LogFields, SharedFields, SharedFieldsCache } from "./record-fields.ts";
import { BytesStore, type LogBytes } from "./request-bytes.ts";
import { requestModelOf } from "./span-attributes.ts";
import type { AttemptWithContent } from "./span-maker.ts";
import type { TraceContext, Traces } from "./traces.ts";

/** The source of log records: a line of the log, an access line, or an attempt with its messages. */
export type LogEvent = string | AccessLine | Omit<AttemptWithContent, "message">;

const severities: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** Makes log records. Lines and records hold no credentials. */
export class LogMaker {
  readonly #traces: Traces | null;
  readonly #clock: Pick<Clock, "now">;
  readonly #own = new AttributeList();
  readonly #cache = new SharedFieldsCache(lineFacts, lineFields);
  readonly #addresses = new BoundedMap<string, string>(bounds.accessLogTextsMax);

  constructor(traces: Traces | null, clock: Pick<Clock, "now">) {
    this.#traces = traces;
    this.#clock = clock;
  }

  /** Read the record before the next one is made. null if a line is no JSON object. */
  recordOf(event: LogEvent): LogFields | null {
    if (typeof event === "string") return this.#lineRecord(event);
    return "content" in event ? contentEvent(event, this.#traces, this.#clock.now()) : this.#requestRecord(event);
  }

  #requestRecord(line: AccessLine): LogFields {
    const { end, level, atMs } = line;
    const trace = this.#traces?.of(end.requestId) ?? null;
    const own = this.#own.clear();
    own.add("requestId", end.requestId);
    own.add("totalMs", tenths(end.totalMs));
    own.add("address", this.#address(end.address));
    if (end.path != null) own.add("path", shownPath(end.path));
    if (end.message != null) own.add("message", shownSentence(end.message));
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
      sourceId: end.requestId,
      shared: this.#cache.get(end.principal?.key.id ?? end.key ?? "", line),
      own,
      attributes: noAttributes,
      dropped: 0,
    };
  }

  /** Cached, because few callers make most calls. */
  #address(address: string): string {
    const cached = this.#addresses.get(address);
    if (cached !== undefined) return cached;
    const shown = shortened(address);
    this.#addresses.set(address, shown);
    return shown;
  }

  #lineRecord(line: string): LogFields | null {
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
      sourceId: typeof requestId === "string" ? requestId : "",
      ...{ shared: null, own: null },
      eventName: typeof attributes["event"] === "string" ? attributes["event"] : null,
      attributes: isLong ? noAttributes : attributes,
      dropped: isLong ? Object.keys(attributes).length : 0,
    };
  }

  #isSampled(trace: TraceContext | null): boolean {
    return trace !== null && this.#traces?.isSampled(trace) === true;
  }

  /** The trace id of the line wins, because the request may have ended. */
  #traceOf(requestId: string, traceId: unknown): TraceContext | null {
    const trace = this.#traces?.of(requestId) ?? null;
    if (trace === null || typeof traceId !== "string" || traceId === trace.traceId) return trace;
    return { traceId, sourceId: null, parentSpanId: null, parentSampled: null, traceState: null };
  }
}

const noAttributes: Readonly<Record<string, unknown>> = {};

function addAttempts(own: AttributeList, sums: AttemptSums, { startedAfterMs, firstByteMs }: LedgerEntry): void {
  own.add("attempts", sums.count);
  if (firstByteMs !== null) own.add("firstByteMs", tenths(startedAfterMs + firstByteMs));
  own.add("inputTokens", sums.inputTokens);
  own.add("outputTokens", sums.outputTokens);
  own.add("costUsd", nanoToUsd(sums.costNanoUsd));
}

/** Everything that `lineFields` reads. */
function lineFacts({ end, level }: AccessLine): readonly unknown[] {
  const last = end.attempts?.last;
  return [
    level,
    end.key,
    end.principal,
    end.outcome,
    last?.provider,
    last?.deployment,
    last?.upstreamStatus,
    last?.stream,
    end.attempts?.fault?.cause,
    end.route,
    end.status,
    end.model,
    end.error,
    end.method,
  ];
}

function lineFields({ end }: AccessLine): SharedFields {
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

/** Log records that wait to be exported, encoded. */
export class LogStore extends BytesStore<LogBytes> {
  readonly #maker: LogMaker;

  constructor(maker: LogMaker, logs: LogBytes, onContentLost: () => void) {
    super(logs, onContentLost);
    this.#maker = maker;
  }

  put(event: LogEvent): void {
    if (typeof event !== "string" && "content" in event && this.losesContent()) return;
    const record = this.#maker.recordOf(event);
    if (record !== null) this.records.put(record);
  }
}

const severity = { level: "info", severity: 9 } as const;

/** The messages of a call as the event of the GenAI conventions, attached to the span of the attempt that answered. */
function contentEvent(
  { entry, content }: Omit<AttemptWithContent, "message">,
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
    sourceId: entry.attemptId,
    ...{ shared: null, own: null, dropped: 0 },
    attributes: {
      ...eventFacts(entry),
      ...(system === null ? {} : { "gen_ai.system_instructions": structured(system) }),
      ...(input === null ? {} : { "gen_ai.input.messages": structured(input) }),
      ...(output === null ? {} : { "gen_ai.output.messages": structured(output) }),
      ...(truncated ? { "sluice.content.truncated": true } : {}),
    },
  };
}

function eventFacts(entry: LedgerEntry): Record<string, unknown> {
  const { input, output } = tokenCounts(entry.usage);
  const errorType = errorTypeOf(entry);
  return {
    "gen_ai.operation.name": operationOf(entry.endpoint),
    "gen_ai.request.model": requestModelOf(entry),
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

/** Events hold structured values, unless they are nested too deeply: then text. */
function structured(json: string): unknown {
  const value: unknown = JSON.parse(json);
  return isDeeper(value, bounds.contentDepthMax) ? json : value;
}

function isDeeper(value: unknown, depthMax: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return depthMax === 0 || Object.values(value).some((each) => isDeeper(each, depthMax - 1));
}
