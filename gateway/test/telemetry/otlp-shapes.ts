import type { Shape } from "./protobuf.ts";

// opentelemetry-proto 1.x, by field number.
const anyValue: Shape = {
  1: ["stringValue", "string"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int64"],
  4: ["doubleValue", "double"],
  5: ["arrayValue", () => ({ 1: ["values", () => [anyValue] as const] })],
  6: ["kvlistValue", () => ({ 1: ["values", () => [keyValue] as const] })],
};
const keyValue: Shape = { 1: ["key", "string"], 2: ["value", () => anyValue] };
const resource: Shape = { 1: ["attributes", [keyValue]] };
const scope: Shape = { 1: ["name", "string"], 2: ["version", "string"] };

const link: Shape = {
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  3: ["traceState", "string"],
  6: ["flags", "fixed32"],
};
const span: Shape = {
  1: ["traceId", "hex"],
  2: ["spanId", "hex"],
  3: ["traceState", "string"],
  4: ["parentSpanId", "hex"],
  5: ["name", "string"],
  6: ["kind", "varint"],
  7: ["startTimeUnixNano", "fixed64"],
  8: ["endTimeUnixNano", "fixed64"],
  9: ["attributes", [keyValue]],
  13: ["links", [link]],
  15: ["status", { 2: ["message", "string"], 3: ["code", "varint"] }],
  16: ["flags", "fixed32"],
};
export const traces: Shape = {
  1: [
    "resourceSpans",
    [
      {
        1: ["resource", resource],
        2: ["scopeSpans", [{ 1: ["scope", scope], 2: ["spans", [span]], 3: ["schemaUrl", "string"] }]],
      },
    ],
  ],
};

const numberPoint: Shape = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["asDouble", "double"],
  6: ["asInt", "fixed64"],
  7: ["attributes", [keyValue]],
};
const histogramPoint: Shape = {
  2: ["startTimeUnixNano", "fixed64"],
  3: ["timeUnixNano", "fixed64"],
  4: ["count", "fixed64"],
  5: ["sum", "double"],
  6: ["bucketCounts", "fixed64s"],
  7: ["explicitBounds", "doubles"],
  9: ["attributes", [keyValue]],
};
const metric: Shape = {
  1: ["name", "string"],
  2: ["description", "string"],
  3: ["unit", "string"],
  5: ["gauge", { 1: ["dataPoints", [numberPoint]] }],
  7: ["sum", { 1: ["dataPoints", [numberPoint]], 2: ["aggregationTemporality", "varint"], 3: ["isMonotonic", "bool"] }],
  9: ["histogram", { 1: ["dataPoints", [histogramPoint]], 2: ["aggregationTemporality", "varint"] }],
};
export const metrics: Shape = {
  1: [
    "resourceMetrics",
    [
      {
        1: ["resource", resource],
        2: ["scopeMetrics", [{ 1: ["scope", scope], 2: ["metrics", [metric]], 3: ["schemaUrl", "string"] }]],
      },
    ],
  ],
};

const logRecord: Shape = {
  1: ["timeUnixNano", "fixed64"],
  2: ["severityNumber", "varint"],
  3: ["severityText", "string"],
  5: ["body", anyValue],
  6: ["attributes", [keyValue]],
  7: ["droppedAttributesCount", "varint"],
  8: ["flags", "fixed32"],
  9: ["traceId", "hex"],
  10: ["spanId", "hex"],
  11: ["observedTimeUnixNano", "fixed64"],
  12: ["eventName", "string"],
};
export const logs: Shape = {
  1: [
    "resourceLogs",
    [
      {
        1: ["resource", resource],
        2: ["scopeLogs", [{ 1: ["scope", scope], 2: ["logRecords", [logRecord]], 3: ["schemaUrl", "string"] }]],
      },
    ],
  ],
};
