/**
 * http1: the messages of HTTP/1.1 (RFC 9112), read and written; no sockets, no clock.
 *
 * reader   takes bytes as they come, in pieces of any size, and tells of the head, of pieces of the body, and of the end.
 * fields   header fields: read, and checked before they are written.
 *
 * Strict: what two parsers could read in two ways is refused (a bare line feed, a folded line, white space before a colon,
 * a length beside a transfer coding, two lengths, a coding that is not "chunked"). A refused message throws
 * MalformedMessage and its connection is of no more use. Everything that is kept is bounded.
 */
export { FieldHeaders, FieldLines } from "./field-headers.ts";
export { type Fields, fieldOf } from "./fields.ts";
export type { RequestHead, ResponseHead } from "./heads.ts";
export { MalformedMessage } from "./malformed.ts";
export { type HeadLimits, type MessageSink, RequestReader, ResponseReader } from "./message-reader.ts";
