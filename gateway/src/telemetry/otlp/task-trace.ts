import { rootOf } from "./root-trace.ts";
import type { TraceContext } from "./trace-context.ts";
import { spanIdFrom } from "./trace-ids.ts";

/** A video task may last for an hour after its call was answered: it has a trace of its own, and each links to the other. */
export function taskTrace(requestId: string): TraceContext {
  return rootOf(`task ${requestId}`);
}

export function taskSpanId(requestId: string): string {
  return spanIdFrom(`task ${requestId}`);
}
