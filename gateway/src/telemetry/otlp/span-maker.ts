import type { LedgerEntry, Principal } from "#core/index.ts";
import type { OtlpSettings } from "#ports/index.ts";
import type { ReadContent } from "../content/read-content.ts";
import { attemptSpan, isSameAttempt, sharedOfAttempt, taskSpan, type UpstreamFacts } from "./attempt-span.ts";
import { AttributeList } from "./attribute-list.ts";
import { beganTask, callSpan, type EndedCall, isSameCall, sharedOfCall } from "./call-span.ts";
import { errorTypeOf } from "./gen-ai-names.ts";
import { routeTemplates } from "./route-templates.ts";
import { SharedFieldsCache } from "./shared-fields-cache.ts";
import type { SpanFields } from "./span.ts";
import { taskTrace } from "./trace-context.ts";
import { TracedCalls, TracedKeys } from "./traced-call.ts";
import type { Traces } from "./traces.ts";

/** An attempt with what was said in it. `message`: the sentence of its failure, as in the log. */
export interface ToldAttempt {
  readonly entry: LedgerEntry;
  readonly content: ReadContent;
  readonly message: string | null;
}

interface FailedAttempt {
  readonly entry: LedgerEntry;
  readonly content: null;
  readonly message: string | null;
}

export type AttemptEvent = LedgerEntry | ToldAttempt | FailedAttempt;

/** What spans are made of: a settled entry of the ledger, or the end of a request. */
export type TracedEvent = AttemptEvent | EndedCall;

export function entryOf(event: AttemptEvent): LedgerEntry {
  return "content" in event ? event.entry : event;
}

export interface SpanMakerOptions extends Pick<OtlpSettings, "oldNames" | "costNames"> {
  readonly traces: Traces;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
}

/** Makes spans of what was settled: one for each call and one for each of its attempts. */
export class SpanMaker {
  readonly #options: SpanMakerOptions;
  readonly #calls = new TracedCalls();
  readonly #keys = new TracedKeys();
  readonly #own = new AttributeList();
  readonly #ofAttempts = { cache: new SharedFieldsCache(isSameAttempt, sharedOfAttempt), own: this.#own };
  readonly #ofCalls = { cache: new SharedFieldsCache(isSameCall, sharedOfCall), own: this.#own };

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

  #ofCall(call: EndedCall): SpanFields | null {
    const { traces } = this.#options;
    const { requestId, route } = call.end;
    const trace = traces.ended(requestId, beganTask(call.end));
    const facts = this.#calls.take(requestId);
    if (!routeTemplates.has(route) || !traces.isSampled(trace)) return null;
    return callSpan(call, facts, trace, this.#ofCalls);
  }

  #ofEntry(entry: LedgerEntry, more: typeof noMore): SpanFields | null {
    const { traces } = this.#options;
    if (entry.endpoint === "video" && entry.outcome !== "rejected") return this.#ofTask(entry);
    this.#calls.add(entry, errorTypeOf(entry));
    if (entry.outcome === "rejected") return null;
    const trace = traces.of(entry.requestId);
    return traces.isSampled(trace) ? attemptSpan(entry, trace, this.#partsOf(entry, more)) : null;
  }

  #ofTask(entry: LedgerEntry): SpanFields | null {
    const { traces } = this.#options;
    const begun = traces.takeOfTask(entry.requestId);
    if (!traces.isSampled(begun ?? taskTrace(entry.requestId))) return null;
    return taskSpan(entry, begun, this.#partsOf(entry, noMore));
  }

  #partsOf(entry: LedgerEntry, { content, message }: typeof noMore) {
    const { upstreamOf, oldNames, costNames } = this.#options;
    const { cache, own } = this.#ofAttempts;
    return {
      cache,
      own,
      upstream: upstreamOf(entry.provider),
      principal: this.#keys.of(entry.keyId),
      oldNames,
      costNames,
      content,
      message,
    };
  }
}

const noMore: { readonly content: ReadContent | null; readonly message: string | null } = {
  content: null,
  message: null,
};
