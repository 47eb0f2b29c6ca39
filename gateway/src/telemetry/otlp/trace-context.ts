import { bounds } from "#core/index.ts";
import { traceIdFrom } from "./trace-ids.ts";

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

/** A trace that begins here. Its id is put into words only for those who read words. */
export function rootOf(id: string): TraceContext {
  return new RootTrace(id);
}

class RootTrace implements TraceContext {
  readonly root: string;
  readonly parentSpanId = null;
  readonly parentSampled = null;
  readonly traceState = null;

  constructor(root: string) {
    this.root = root;
  }

  get traceId(): string {
    return traceIdFrom(this.root);
  }
}

/** A video task may last for an hour after its call was answered: it has a trace of its own, and each links to the other. */
export function taskTrace(requestId: string): TraceContext {
  return rootOf(taskId(requestId));
}

/** What the ids of the task's trace and span follow from. */
export function taskId(requestId: string): string {
  return `task ${requestId}`;
}
