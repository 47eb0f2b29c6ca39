import { bounds } from "#core/index.ts";
import { hrTime, type Origin, type SdkLogRecord } from "./sdk-types.ts";
import { spanIdFrom } from "./trace-ids.ts";
import type { Traces } from "./traces.ts";

const severities: Readonly<Record<string, number>> = { debug: 5, info: 9, warn: 13, error: 17 };

/** A line of the log, as it is written, as a record. Its credentials have been taken out already. null: it is no line of ours. */
export function logRecord(line: string, origin: Origin, traces: Traces | null, nowMs: number): SdkLogRecord | null {
  const members = membersOf(line);
  if (members === null) return null;
  const { level, time, msg, instance: _, ...rest } = members;
  const { trace_id: traceId, ...attributes } = rest;
  const requestId = typeof attributes["requestId"] === "string" ? attributes["requestId"] : null;
  const context =
    requestId === null || traces === null
      ? null
      : {
          traceId: typeof traceId === "string" ? traceId : traces.traceIdOf(requestId),
          spanId: spanIdFrom(requestId),
          traceFlags: 1,
        };
  const atMs = typeof time === "string" ? Date.parse(time) : Number.NaN;
  return {
    hrTime: hrTime(Number.isNaN(atMs) ? nowMs : atMs),
    hrTimeObserved: hrTime(nowMs),
    ...(context === null ? {} : { spanContext: context }),
    severityText: String(level),
    severityNumber: (severities[String(level)] ?? 0) as NonNullable<SdkLogRecord["severityNumber"]>,
    body: String(msg).slice(0, bounds.logTextMax),
    resource: origin.resource,
    instrumentationScope: origin.scope,
    attributes: attributes as SdkLogRecord["attributes"],
    droppedAttributesCount: 0,
  };
}

function membersOf(line: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(line);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? (read as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
