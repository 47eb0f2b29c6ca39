/**
 * http1: parses and writes messages of HTTP/1.1 (RFC 9112), without sockets and clocks.
 *
 * reader   takes bytes in pieces of any size, and reports the head, pieces of the body, and the end.
 * writer   sends heads and bodies, and keeps what the socket does not take.
 * fields   header fields, checked before they are written.
 *
 * Strict: an ambiguous message is refused (a bare line feed, a folded line, white space before a colon, a length and a transfer
 * coding, two lengths, a coding other than "chunked"). It throws MalformedMessage, and its connection cannot be used again. Every
 * buffer and cache is bounded.
 */
export { FieldLines } from "./field-lines.ts";
export type { RequestHead, ResponseHead } from "./heads.ts";
export { MalformedMessage } from "./malformed.ts";
export { type HeadLimits, type MessageSink, RequestReader, ResponseReader } from "./message-reader.ts";
export { type ByteSink, MessageWriter, type UnsentWatch } from "./message-writer.ts";
