import type { LogFields } from "./log-fields.ts";
import { keyBytes, ProtobufWriter } from "./protobuf-writer.ts";
import { RequestBytes } from "./request-bytes.ts";
import type { SharedFields } from "./span.ts";
import { writeTraceId } from "./span-bytes.ts";
import { spanWordsOf } from "./trace-ids.ts";

const attributesField = 6;
const sampledFlag = 1;

/** Records as they stand in an ExportLogsServiceRequest of opentelemetry-proto; a batch is such a request. */
export class LogBytes extends RequestBytes {
  readonly #inner = new ProtobufWriter(256);

  put(record: LogFields): void {
    this.#write(this.begin(), record);
    this.end();
  }

  #write(out: ProtobufWriter, record: LogFields): void {
    const { shared, trace, sampled, dropped } = record;
    out.nanoseconds(1, record.atMs);
    if (shared === null) this.#writeWords(out, record);
    else out.raw(shared.written ?? this.#writeShared(shared, record));
    record.own?.write(out, attributesField);
    for (const name in record.attributes) writePair(out, attributesField, name, record.attributes[name]);
    if (dropped > 0) {
      out.tag(7, 0);
      out.varint(dropped);
    }
    if (trace !== null) {
      out.tag(8, 5);
      out.fixed32(sampled ? sampledFlag : 0);
      writeTraceId(out, 9, trace);
      out.words(10, spanWordsOf(record.of));
    }
    out.nanoseconds(11, record.observedMs);
    if (record.eventName !== null) out.text(12, record.eventName);
  }

  #writeWords(out: ProtobufWriter, { severity, level, body }: LogFields): void {
    out.tag(2, 0);
    out.varint(severity);
    out.text(3, level);
    if (body === "") return;
    const inner = this.#inner;
    inner.clear();
    inner.text(1, body);
    out.message(5, inner);
  }

  /** What many records have alike, their level and words among it. */
  #writeShared(shared: SharedFields, record: LogFields): Uint8Array {
    return shared.write((out) => {
      this.#writeWords(out, record);
      for (const [name, value] of Object.entries(shared.attributes)) {
        out.attribute(attributesField, keyBytes(name), value);
      }
    });
  }
}

/** A KeyValue whose value is any that JSON has. Few records have such. */
function writePair(out: ProtobufWriter, field: number, name: string, value: unknown): void {
  const pair = new ProtobufWriter(smallBytes);
  pair.text(1, name);
  pair.message(2, anyValueOf(value));
  out.message(field, pair);
}

/** An AnyValue; without a member where there is no value. */
function anyValueOf(value: unknown): ProtobufWriter {
  const out = new ProtobufWriter(smallBytes);
  if (typeof value === "string") out.text(1, value);
  else if (typeof value === "boolean") {
    out.tag(2, 0);
    out.varint(value ? 1 : 0);
  } else if (typeof value === "number") writeNumber(out, value);
  else if (Array.isArray(value)) {
    const list = new ProtobufWriter(smallBytes);
    for (const one of value) list.message(1, anyValueOf(one));
    out.message(5, list);
  } else if (typeof value === "object" && value !== null) {
    const list = new ProtobufWriter(smallBytes);
    for (const [name, one] of Object.entries(value)) writePair(list, 1, name, one);
    out.message(6, list);
  }
  return out;
}

function writeNumber(out: ProtobufWriter, value: number): void {
  if (value >= 0 && Number.isSafeInteger(value)) {
    out.tag(3, 0);
    out.varint(value);
  } else {
    out.tag(4, 1);
    out.double(value);
  }
}

const smallBytes = 128;
