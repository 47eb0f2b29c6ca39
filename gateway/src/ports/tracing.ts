import type { HeaderReader } from "#core/index.ts";

/**
 * The trace that a call is part of (W3C Trace Context). Ids are made of our own: who knows an id of a request or an attempt
 * knows those of its span, and nothing has to be carried along. Calls never throw.
 */
export interface Tracing {
  /** A request has come in; what its caller says of a trace is continued. */
  arrived(requestId: string, headers: Pick<HeaderReader, "get">): void;
  /** What an attempt of the request says of it to its upstream; null: nothing is said of traces here. */
  outbound(
    requestId: string,
    attemptId: string,
  ): { readonly traceparent: string; readonly tracestate: string | null } | null;
  /** The trace's id, for whoever reads a log line. */
  traceIdOf(requestId: string): string;
}
