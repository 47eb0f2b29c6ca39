import type { TraceContext } from "./trace-context.ts";
import { traceIdFrom } from "./trace-ids.ts";

/** A trace that begins here. */
export function rootOf(id: string): TraceContext {
  return { traceId: traceIdFrom(id), parentSpanId: null, parentSampled: null, traceState: null };
}
