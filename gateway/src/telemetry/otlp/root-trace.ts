import type { TraceContext } from "./trace-context.ts";
import { traceIdFrom } from "./trace-ids.ts";

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
