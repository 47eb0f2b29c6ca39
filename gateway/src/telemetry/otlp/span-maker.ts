import type { LedgerEntry, Principal } from "#core/index.ts";
import { bounds } from "#core/index.ts";
import type { ReadContent } from "../content/read-content.ts";
import type { Taken } from "./export-queue.ts";
import { errorTypeOf } from "./gen-ai-names.ts";
import { AttributeList, noLinks, SharedFieldsCache, type SpanFields } from "./record-fields.ts";
import { BytesStore, type SpanBytes } from "./request-bytes.ts";
import {
  addAttempt,
  addCall,
  beganTask,
  type EndedCall,
  isSameAttempt,
  isSameCall,
  type NameOptions,
  routeTemplates,
  sharedOfAttempt,
  sharedOfCall,
  statusMessage,
  type UpstreamFacts,
} from "./span-attributes.ts";
import { TracedCalls, TracedKeys } from "./traced-call.ts";
import { type Traces, taskId, taskTrace } from "./traces.ts";

/** An attempt, with what was said in it and the sentence of its failure, as in the log. */
interface DetailedAttempt {
  readonly entry: LedgerEntry;
  readonly content: ReadContent | null;
  readonly message: string | null;
}

/** One whose messages were read. */
export interface ToldAttempt extends DetailedAttempt {
  readonly content: ReadContent;
}

export type AttemptEvent = LedgerEntry | DetailedAttempt;

/** What spans are made of: a settled entry of the ledger, or the end of a request. */
export type TracedEvent = AttemptEvent | EndedCall;

export function entryOf(event: AttemptEvent): LedgerEntry {
  return "content" in event ? event.entry : event;
}

interface SpanMakerOptions extends NameOptions {
  readonly traces: Traces;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
}

/** Makes spans of what was settled: one for each call and one for each of its attempts. */
export class SpanMaker {
  readonly #options: SpanMakerOptions;
  readonly #calls = new TracedCalls();
  readonly #keys = new TracedKeys();
  readonly #own = new AttributeList();
  readonly #ofAttempts = new SharedFieldsCache(isSameAttempt, sharedOfAttempt);
  readonly #ofCalls = new SharedFieldsCache(isSameCall, sharedOfCall);

  constructor(options: SpanMakerOptions) {
    this.#options = options;
  }

  /** Whether the names of its key are known. They come with the end of the key's first call, which stands behind its attempts. */
  isNamed(entry: LedgerEntry): boolean {
    return this.#keys.of(entry.keyId) !== null;
  }

  learn(principal: Principal): void {
    this.#keys.learn(principal);
  }

  /** To be read before the next one is made. null: there is none, or it is not kept. */
  spanOf(event: TracedEvent): SpanFields | null {
    if ("end" in event) return this.#ofCall(event);
    return "content" in event ? this.#ofEntry(event.entry, event) : this.#ofEntry(event, noMore);
  }

  /** The SERVER span of a call. What it used stands in the spans of its attempts, so that no sum counts it twice. */
  #ofCall({ end, endMs }: EndedCall): SpanFields | null {
    const { traces } = this.#options;
    const { requestId, route, status } = end;
    const isTask = beganTask(end);
    const trace = traces.ended(requestId, isTask);
    const facts = this.#calls.take(requestId);
    if (!routeTemplates.has(route) || !traces.isSampled(trace)) return null;
    const startMs = endMs - end.totalMs;
    addCall(this.#own.clear(), end, facts);
    return {
      trace,
      of: requestId,
      below: null,
      parentSpanId: trace.parentSpanId,
      startMs: facts === null ? startMs : Math.min(startMs, facts.startMs),
      endMs: facts === null ? endMs : Math.max(endMs, facts.endMs),
      shared: this.#ofCalls.get(end.principal?.key.id ?? "", { end, facts }),
      own: this.#own,
      // OpenTelemetry's HTTP conventions: an answer below 500 is no error of the server, whatever the caller did.
      failed: status >= 500 || (status < 400 && facts?.isBroken === true) ? statusMessage(end, facts) : null,
      links: isTask ? [{ trace: taskTrace(requestId), of: taskId(requestId) }] : noLinks,
    };
  }

  #ofEntry(entry: LedgerEntry, more: typeof noMore): SpanFields | null {
    const { traces } = this.#options;
    const { requestId } = entry;
    if (entry.endpoint === "video" && entry.outcome !== "rejected") {
      const begun = traces.takeOfTask(requestId);
      const trace = taskTrace(requestId);
      if (!traces.isSampled(begun ?? trace)) return null;
      const links = begun === null ? noLinks : [{ trace: begun, of: requestId }];
      return this.#ofAttempt(entry, noMore, { trace, of: taskId(requestId), below: null, links });
    }
    this.#calls.add(entry, errorTypeOf(entry));
    if (entry.outcome === "rejected") return null;
    const trace = traces.of(requestId);
    if (!traces.isSampled(trace)) return null;
    return this.#ofAttempt(entry, more, { trace, of: entry.attemptId, below: requestId, links: noLinks });
  }

  /** The CLIENT span of an attempt; that of a video task is in a trace of its own. */
  #ofAttempt(
    entry: LedgerEntry,
    { content, message }: typeof noMore,
    { trace, of, below, links }: Pick<SpanFields, "trace" | "of" | "below" | "links">,
  ): SpanFields {
    const { upstreamOf, oldNames } = this.#options;
    const { outcome, keyId } = entry;
    addAttempt(this.#own.clear(), entry, content, this.#options);
    const source = { entry, upstream: upstreamOf(entry.provider), principal: this.#keys.of(keyId), oldNames };
    return {
      trace,
      of,
      below,
      parentSpanId: null,
      startMs: entry.at,
      endMs: entry.at + entry.totalMs,
      shared: this.#ofAttempts.get(keyId, source),
      own: this.#own,
      // A caller who went away is no failure of the upstream.
      failed: outcome === "failed" || outcome === "interrupted" ? (message ?? errorTypeOf(entry)) : null,
      links,
    };
  }
}

const noMore: Pick<DetailedAttempt, "content" | "message"> = { content: null, message: null };

/**
 * Spans that wait to be sent. They are written as soon as what they tell of is over: entries that waited instead would have outlived
 * their calls, and the collector of garbage would have had to carry them. Only the attempts of a key's first call wait for its end, with
 * which the names of the key come; they wait for one export at most.
 */
export class SpanStore extends BytesStore<SpanBytes> {
  readonly #maker: SpanMaker;
  #unnamed: AttemptEvent[] = [];
  #unnamedLong: AttemptEvent[] = [];

  constructor(maker: SpanMaker, row: SpanBytes, onContentLost?: () => void) {
    super(row, onContentLost);
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

  override take(max: number): Taken<Uint8Array> | null {
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
    const leavesOut = "content" in event && event.content !== null && this.losesContent();
    const span = this.#maker.spanOf(leavesOut ? { ...event, content: null } : event);
    if (span !== null) this.row.put(span);
  }
}
