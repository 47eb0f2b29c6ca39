import { BoundedMap, bounds, type HeaderReader } from "#core/index.ts";
import type { OtlpSampler, Tracing } from "#ports/index.ts";
import { readTraceContext, rootOf, type TraceContext } from "./trace-context.ts";
import { spanIdFrom, traceIdFrom } from "./trace-ids.ts";

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
