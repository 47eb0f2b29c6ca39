/** How a field is decoded; `[Shape]` is a repeated message. */
type Kind = "text" | "hex" | "int" | "int64" | "fixed32" | "fixed64" | "fixed64s" | "double" | "doubles" | "bool";
type Field = readonly [name: string, kind: Kind | Shape | readonly [Shape]];
type Shape = Readonly<Record<number, Field>>;

// The parts of opentelemetry-proto that are exported: field numbers with their JSON names.
const anyValue: Record<number, Field> = {
  1: ["stringValue", "text"],
  2: ["boolValue", "bool"],
  3: ["intValue", "int64"],
  4: ["doubleValue", "double"],
};
const pair: Shape = { 1: ["key", "text"], 2: ["value", anyValue] };
anyValue[5] = ["arrayValue", { 1: ["values", [anyValue]] }];
anyValue[6] = ["kvlistValue", { 1: ["values", [pair]] }];

const origin: Shape = { 1: ["attributes", [pair]] };
const scope: Shape = { 1: ["name", "text"], 2: ["version", "text"] };
const requestOf = (resources: string, scopes: string, records: string, record: Shape): Shape => ({
  1: [
    resources,
    [
      {
        1: ["resource", origin],
        2: [scopes, [{ 1: ["scope", scope], 2: [records, [record]], 3: ["schemaUrl", "text"] }]],
      },
    ],
  ],
});

const ids: Shape = { 1: ["traceId", "hex"], 2: ["spanId", "hex"], 3: ["traceState", "text"] };
const times: Shape = { 2: ["startTimeUnixNano", "fixed64"], 3: ["timeUnixNano", "fixed64"] };
const numbers: Field = ["dataPoints", [{ ...times, 4: ["asDouble", "double"], 7: ["attributes", [pair]] }]];
const histograms: Field = [
  "dataPoints",
  [
    {
      ...times,
      4: ["count", "fixed64"],
      5: ["sum", "double"],
      6: ["bucketCounts", "fixed64s"],
      7: ["explicitBounds", "doubles"],
      9: ["attributes", [pair]],
    },
  ],
];
const temporality: Field = ["aggregationTemporality", "int"];

const requests = {
  traces: requestOf("resourceSpans", "scopeSpans", "spans", {
    ...ids,
    4: ["parentSpanId", "hex"],
    5: ["name", "text"],
    6: ["kind", "int"],
    7: ["startTimeUnixNano", "fixed64"],
    8: ["endTimeUnixNano", "fixed64"],
    9: ["attributes", [pair]],
    13: ["links", [{ ...ids, 6: ["flags", "fixed32"] }]],
    15: ["status", { 2: ["message", "text"], 3: ["code", "int"] }],
    16: ["flags", "fixed32"],
  }),
  metrics: requestOf("resourceMetrics", "scopeMetrics", "metrics", {
    1: ["name", "text"],
    2: ["description", "text"],
    3: ["unit", "text"],
    5: ["gauge", { 1: numbers }],
    7: ["sum", { 1: numbers, 2: temporality, 3: ["isMonotonic", "bool"] }],
    9: ["histogram", { 1: histograms, 2: temporality }],
  }),
  logs: requestOf("resourceLogs", "scopeLogs", "logRecords", {
    1: ["timeUnixNano", "fixed64"],
    2: ["severityNumber", "int"],
    3: ["severityText", "text"],
    5: ["body", anyValue],
    6: ["attributes", [pair]],
    7: ["droppedAttributesCount", "int"],
    8: ["flags", "fixed32"],
    9: ["traceId", "hex"],
    10: ["spanId", "hex"],
    11: ["observedTimeUnixNano", "fixed64"],
    12: ["eventName", "text"],
  }),
} as const;

export type OtlpKind = keyof typeof requests;

/** Converts a protobuf export request to JSON: ids as hex, 64-bit numbers as strings (OTLP, "JSON Protobuf Encoding"). */
export function requestAsJson(request: Uint8Array, kind: OtlpKind): Uint8Array {
  return Buffer.from(JSON.stringify(readMessage(request, requests[kind])));
}

/** How many records the collector rejected; 0 if its answer cannot be parsed. */
export function rejectedIn(answer: Uint8Array, isJson: boolean): number {
  try {
    const body = isJson ? JSON.parse(Buffer.from(answer).toString()) : readMessage(answer, response);
    const partial: Readonly<Record<string, unknown>> = body?.partialSuccess ?? {};
    const rejected = Number(Object.entries(partial).find(([name]) => name.startsWith("rejected"))?.[1] ?? 0);
    return Number.isFinite(rejected) ? rejected : 0;
  } catch {
    return 0;
  }
}

const response: Shape = { 1: ["partialSuccess", { 1: ["rejected", "int64"] }] };

interface Message {
  [name: string]: unknown;
}

/** Skips fields that the shape lacks. Throws if the bytes are no valid message. */
function readMessage(bytes: Uint8Array, shape: Shape): Message {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const out: Message = {};
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = buffer.readUInt8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < buffer.length) {
    const tag = varint();
    const wire = tag % 8;
    const value = wire === 0 || wire === 2 ? varint() : 0;
    const start = at;
    at += wire === 0 ? 0 : wire === 2 ? value : wire === 1 ? 8 : 4;
    if (at > buffer.length) throw new Error("a field exceeds its message");
    const field = shape[Math.floor(tag / 8)];
    if (field === undefined) continue;
    const [name, kind] = field;
    const part = buffer.subarray(start, at);
    if (isList(kind)) {
      const list = (out[name] ?? []) as Message[];
      list.push(readMessage(part, kind[0]));
      out[name] = list;
    } else out[name] = typeof kind === "object" ? readMessage(part, kind) : scalarOf(kind, value, part);
  }
  return out;
}

function isList(kind: Field[1]): kind is readonly [Shape] {
  return Array.isArray(kind);
}

function scalarOf(kind: Kind, value: number, part: Buffer): unknown {
  const offsets = () => Array.from({ length: part.length / 8 }, (_, index) => index * 8);
  switch (kind) {
    case "text":
      return part.toString("utf8");
    case "hex":
      return part.toString("hex");
    case "int":
      return value;
    case "int64":
      return String(value);
    case "bool":
      return value === 1;
    case "fixed32":
      return part.readUInt32LE();
    case "fixed64":
      return String(part.readBigUInt64LE());
    case "fixed64s":
      return offsets().map((offset) => String(part.readBigUInt64LE(offset)));
    case "double":
      return numberOf(part.readDoubleLE());
    case "doubles":
      return offsets().map((offset) => numberOf(part.readDoubleLE(offset)));
  }
}

/** JSON has no infinity. */
function numberOf(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}
