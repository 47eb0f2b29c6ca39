import { BoundedMap, bounds, type LedgerEntry, type Principal } from "#core/index.ts";
import type { ReadContent } from "../content/read-content.ts";
import { OpenCalls } from "./call-totals.ts";
import type { Batch } from "./export-queue.ts";
import { errorTypeOf } from "./gen-ai-names.ts";
import { AttributeList, noLinks, SharedFieldsCache, type SpanFields } from "./record-fields.ts";
import { BytesStore, type SpanBytes } from "./request-bytes.ts";
import {
  addAttempt,
  addCall,
  attemptFacts,
  attemptFields,
  callFacts,
  callFields,
  createdTask,
  type EndedCall,
  type NameOptions,
  routeTemplates,
  statusMessage,
  type UpstreamFacts,
} from "./span-attributes.ts";
import { type Traces, taskSourceId, taskTrace } from "./traces.ts";

/** An attempt with its messages and the message of its failure, as in the log. */
interface DetailedAttempt {
  readonly entry: LedgerEntry;
  readonly content: ReadContent | null;
  readonly message: string | null;
}

export interface AttemptWithContent extends DetailedAttempt {
  readonly content: ReadContent;
}

export type AttemptEvent = LedgerEntry | DetailedAttempt;

/** The source of spans: a settled ledger entry, or the end of a request. */
export type TracedEvent = AttemptEvent | EndedCall;

export function entryOf(event: AttemptEvent): LedgerEntry {
  return "content" in event ? event.entry : event;
}

interface SpanMakerOptions extends NameOptions {
  readonly traces: Traces;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
}

/** Makes one span for each call and one for each of its attempts. */
export class SpanMaker {
  readonly #options: SpanMakerOptions;
  readonly #calls = new OpenCalls();
  /** By key id. Spans name keys as the calls themselves did, so nothing is read from the database. */
  readonly #principals = new BoundedMap<string, Principal>(bounds.tracedKeysMax);
  readonly #own = new AttributeList();
  readonly #attemptFields = new SharedFieldsCache(attemptFacts, attemptFields);
  readonly #callFields = new SharedFieldsCache(callFacts, callFields);

  constructor(options: SpanMakerOptions) {
    this.#options = options;
  }

  /** Whether the name of the key is known. It comes with the end of the key's first call, after the attempts of that call. */
  isNamed(entry: LedgerEntry): boolean {
    return this.#principals.has(entry.keyId);
  }

  learn(principal: Principal): void {
    const { id } = principal.key;
    if (this.#principals.peek(id) !== principal) this.#principals.set(id, principal);
  }

  /** Read the span before the next one is made. null: no span, or its trace is not sampled. */
  spanOf(event: TracedEvent): SpanFields | null {
    if ("end" in event) return this.#callSpan(event);
    return "content" in event ? this.#entrySpan(event.entry, event) : this.#entrySpan(event, noDetails);
  }

  /** The SERVER span of a call. Its usage is in the spans of its attempts only, so that no sum counts it twice. */
  #callSpan({ end, endMs }: EndedCall): SpanFields | null {
    const { traces } = this.#options;
    const { requestId, route, status } = end;
    const isTask = createdTask(end);
    const trace = traces.ended(requestId, isTask);
    const totals = this.#calls.take(requestId);
    if (!routeTemplates.has(route) || !traces.isSampled(trace)) return null;
    const startMs = endMs - end.totalMs;
    addCall(this.#own.clear(), end, totals);
    return {
      trace,
      sourceId: requestId,
      parentSourceId: null,
      parentSpanId: trace.parentSpanId,
      startMs: totals === null ? startMs : Math.min(startMs, totals.startMs),
      endMs: totals === null ? endMs : Math.max(endMs, totals.endMs),
      shared: this.#callFields.get(end.principal?.key.id ?? "", { end, totals }),
      own: this.#own,
      // OpenTelemetry's HTTP conventions: a status below 500 is no error of the server.
      failure: status >= 500 || (status < 400 && totals?.isBroken === true) ? statusMessage(end, totals) : null,
      links: isTask ? [{ trace: taskTrace(requestId), sourceId: taskSourceId(requestId) }] : noLinks,
    };
  }

  #entrySpan(entry: LedgerEntry, details: typeof noDetails): SpanFields | null {
    const { traces } = this.#options;
    const { requestId } = entry;
    if (entry.endpoint === "video" && entry.outcome !== "rejected") {
      const callTrace = traces.takeOfTask(requestId);
      const trace = taskTrace(requestId);
      if (!traces.isSampled(callTrace ?? trace)) return null;
      const links = callTrace === null ? noLinks : [{ trace: callTrace, sourceId: requestId }];
      const ids = { sourceId: taskSourceId(requestId), parentSourceId: null };
      return this.#attemptSpan(entry, noDetails, { trace, ...ids, links });
    }
    this.#calls.add(entry, errorTypeOf(entry));
    if (entry.outcome === "rejected") return null;
    const trace = traces.of(requestId);
    if (!traces.isSampled(trace)) return null;
    const ids = { sourceId: entry.attemptId, parentSourceId: requestId };
    return this.#attemptSpan(entry, details, { trace, ...ids, links: noLinks });
  }

  /** The CLIENT span of an attempt. */
  #attemptSpan(
    entry: LedgerEntry,
    { content, message }: typeof noDetails,
    ids: Pick<SpanFields, "trace" | "sourceId" | "parentSourceId" | "links">,
  ): SpanFields {
    const { upstreamOf, oldNames } = this.#options;
    const { outcome, keyId } = entry;
    addAttempt(this.#own.clear(), entry, content, this.#options);
    const principal = this.#principals.peek(keyId) ?? null;
    return {
      ...ids,
      parentSpanId: null,
      startMs: entry.at,
      endMs: entry.at + entry.totalMs,
      shared: this.#attemptFields.get(keyId, { entry, upstream: upstreamOf(entry.provider), principal, oldNames }),
      own: this.#own,
      // A caller who disconnects is no failure of the upstream.
      failure: outcome === "failed" || outcome === "interrupted" ? (message ?? errorTypeOf(entry)) : null,
    };
  }
}

const noDetails: Pick<DetailedAttempt, "content" | "message"> = { content: null, message: null };

/**
 * Spans that wait to be exported. They are encoded as soon as their call ends, so that waiting entries do not outlive their calls.
 * Only the attempts of a key's first call wait for its end, which names the key, and for one export at most.
 */
export class SpanStore extends BytesStore<SpanBytes> {
  readonly #maker: SpanMaker;
  #unnamed: AttemptEvent[] = [];
  /** Attempts that were already unnamed at the last export. */
  #unnamedLong: AttemptEvent[] = [];

  constructor(maker: SpanMaker, spans: SpanBytes, onContentLost?: () => void) {
    super(spans, onContentLost);
    this.#maker = maker;
  }

  override get size(): number {
    return super.size + this.#unnamed.length + this.#unnamedLong.length;
  }

  put(event: TracedEvent): void {
    if ("end" in event) {
      if (event.end.principal != null) this.#maker.learn(event.end.principal);
      if (this.#unnamed.length + this.#unnamedLong.length > 0) this.#writeNamed();
    } else if (this.#unnamed.length < bounds.unnamedAttemptsMax && !this.#maker.isNamed(entryOf(event))) {
      this.#unnamed.push(event);
      return;
    }
    this.#write(event);
  }

  override take(max: number): Batch<Uint8Array> | null {
    for (const event of this.#unnamedLong) this.#write(event);
    this.#unnamedLong = this.#unnamed;
    this.#unnamed = [];
    return super.take(max);
  }

  #writeNamed(): void {
    const waiting = [...this.#unnamedLong, ...this.#unnamed];
    this.#unnamedLong = [];
    this.#unnamed = [];
    for (const event of waiting) {
      if (this.#maker.isNamed(entryOf(event))) this.#write(event);
      else this.#unnamed.push(event);
    }
  }

  #write(event: TracedEvent): void {
    const isTooLarge = "content" in event && event.content !== null && this.losesContent();
    const span = this.#maker.spanOf(isTooLarge ? { ...event, content: null } : event);
    if (span !== null) this.records.put(span);
  }
}
