import { rootOf } from "./root-trace.ts";
import type { TraceContext } from "./trace-context.ts";

/** A video task may last for an hour after its call was answered: it has a trace of its own, and each links to the other. */
export function taskTrace(requestId: string): TraceContext {
  return rootOf(taskId(requestId));
}

/** What the ids of the task's trace and span follow from. */
export function taskId(requestId: string): string {
  return `task ${requestId}`;
}
