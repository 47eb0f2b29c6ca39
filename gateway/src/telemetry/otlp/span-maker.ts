import type { LedgerEntry } from "#core/index.ts";
import type { OtlpSettings } from "#ports/index.ts";
import { type AttemptSpanOptions, attemptSpan, taskSpan, type UpstreamFacts } from "./attempt-span.ts";
import { beganTask, callSpan, type EndedCall } from "./call-span.ts";
import { errorTypeOf } from "./gen-ai-names.ts";
import { routeTemplates } from "./route-templates.ts";
import { SharedAttributesCache } from "./shared-attributes.ts";
import type { SpanFields } from "./span.ts";
import { taskTrace } from "./task-trace.ts";
import { TracedCalls, TracedKeys } from "./traced-call.ts";
import type { Traces } from "./traces.ts";

/** What spans are made of: a settled entry of the ledger, or the end of a request. */
export type TracedEvent = LedgerEntry | EndedCall;

export interface SpanMakerOptions extends Pick<OtlpSettings, "oldNames" | "costNames"> {
  readonly traces: Traces;
  readonly upstreamOf: (provider: string) => UpstreamFacts | null;
}

/** Makes spans of what was settled: one for each call and one for each of its attempts. */
export class SpanMaker {
  readonly #options: SpanMakerOptions;
  readonly #calls = new TracedCalls();
  readonly #keys = new TracedKeys();
  readonly #cache = new SharedAttributesCache();

  constructor(options: SpanMakerOptions) {
    this.#options = options;
  }

  /** In the order in which they happened. */
  spansOf(events: readonly TracedEvent[]): SpanFields[] {
    // Names of keys first: the end of a call stands behind its attempts.
    for (const event of events)
      if ("end" in event && event.end.principal != null) this.#keys.learn(event.end.principal);
    return events.flatMap((event) => ("end" in event ? this.#ofCall(event) : this.#ofEntry(event)) ?? []);
  }

  #ofCall(call: EndedCall): SpanFields | null {
    const { traces } = this.#options;
    const { requestId, route } = call.end;
    const trace = traces.ended(requestId, beganTask(call.end));
    const facts = this.#calls.take(requestId);
    if (!routeTemplates.has(route) || !traces.isSampled(trace)) return null;
    return callSpan(call, facts, trace, this.#cache);
  }

  #ofEntry(entry: LedgerEntry): SpanFields | null {
    const { traces } = this.#options;
    if (entry.endpoint === "video" && entry.outcome !== "rejected") return this.#ofTask(entry);
    this.#calls.add(entry, errorTypeOf(entry));
    if (entry.outcome === "rejected") return null;
    const trace = traces.of(entry.requestId);
    return traces.isSampled(trace) ? attemptSpan(entry, trace, this.#spanOptions(entry)) : null;
  }

  #ofTask(entry: LedgerEntry): SpanFields | null {
    const { traces } = this.#options;
    const begun = traces.takeOfTask(entry.requestId);
    if (!traces.isSampled(begun ?? taskTrace(entry.requestId))) return null;
    return taskSpan(entry, begun, this.#spanOptions(entry));
  }

  #spanOptions(entry: LedgerEntry): AttemptSpanOptions {
    const { upstreamOf, oldNames, costNames } = this.#options;
    return {
      cache: this.#cache,
      upstream: upstreamOf(entry.provider),
      principal: this.#keys.of(entry.keyId),
      oldNames,
      costNames,
    };
  }
}
