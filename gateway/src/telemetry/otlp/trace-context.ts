import { bounds } from "#core/index.ts";

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
export function readTraceContext(traceparent: string, tracestate: string | null): TraceContext | null {
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
