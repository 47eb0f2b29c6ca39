import { crc32 } from "node:zlib";

/**
 * A frame of an AWS event stream (application/vnd.amazon.eventstream): the total length, the length of the headers, a CRC32 of
 * both, the headers, the payload, and a CRC32 of everything before. All numbers are big-endian.
 */
export function eventStreamFrame(message: {
  readonly kind: "event" | "exception";
  readonly type: string;
  readonly payload: Uint8Array;
}): Buffer {
  const headers = Buffer.concat([
    stringHeader(message.kind === "event" ? ":event-type" : ":exception-type", message.type),
    stringHeader(":content-type", "application/json"),
    stringHeader(":message-type", message.kind),
  ]);
  const total = 12 + headers.length + message.payload.length + 4;
  const frame = Buffer.alloc(total);
  frame.writeUInt32BE(total, 0);
  frame.writeUInt32BE(headers.length, 4);
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8);
  headers.copy(frame, 12);
  frame.set(message.payload, 12 + headers.length);
  frame.writeUInt32BE(crc32(frame.subarray(0, total - 4)), total - 4);
  return frame;
}

/** Header type 7 is a string. */
function stringHeader(name: string, value: string): Buffer {
  const header = Buffer.alloc(1 + name.length + 3 + value.length);
  header.writeUInt8(name.length, 0);
  header.write(name, 1, "latin1");
  header.writeUInt8(7, 1 + name.length);
  header.writeUInt16BE(value.length, 2 + name.length);
  header.write(value, 4 + name.length, "latin1");
  return header;
}
