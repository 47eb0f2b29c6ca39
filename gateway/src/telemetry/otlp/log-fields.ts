import type { AttributeList } from "./attribute-list.ts";
import type { SharedFields } from "./span.ts";
import type { TraceContext } from "./trace-context.ts";

/** A record of the log, to be read before the next one is made. */
export interface LogFields {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly observedMs: number;
  readonly level: string;
  /** OpenTelemetry's SeverityNumber. */
  readonly severity: number;
  /** Empty: it has none. */
  readonly body: string;
  /** Of an event; null: it is a line of the log. */
  readonly eventName: string | null;
  /** null: it is of no trace. */
  readonly trace: TraceContext | null;
  /** Whether the spans of that trace are sent. */
  readonly sampled: boolean;
  /** The id of ours that the span's follows from. */
  readonly of: string;
  /** What many records have alike; null: nothing. */
  readonly shared: SharedFields | null;
  readonly own: AttributeList | null;
  /** Any values, as JSON has them. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly dropped: number;
}
