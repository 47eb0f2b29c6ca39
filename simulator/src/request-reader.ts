import { type BodySink, createBodySink } from "./body-sink.ts";
import { bounds } from "./bounds.ts";
import type { SimulatorRequest } from "./request.ts";

export interface ReadRequest extends SimulatorRequest {
  /** The caller asked to close the connection after the answer. */
  readonly close: boolean;
}

/** `more`: feed more bytes. `continue`: the same, and the caller waits for 100 Continue. `bad`: not valid HTTP/1.1. */
export type Step = ReadRequest | "more" | "continue" | "bad";

/**
 * Reads HTTP/1.1 requests from a byte stream, one after the other. It is hand-written, as the response writer is: one
 * socket must be able to serve both a correct vendor and one that breaks every rule.
 */
export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);
  #head: Head | null = null;
  #sink: BodySink | null = null;
  #bodyBytes = 0;
  /** The current chunk. `left`: its bytes that have not arrived. Null: a size line comes next. */
  #chunk: { readonly size: number; left: number } | null = null;

  /** Adds bytes. An empty buffer checks for a request that has already arrived. */
  feed(bytes: Buffer): Step {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#head === null) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) return this.#rest.length > bounds.headBytesMax ? "bad" : "more";
      this.#head = readHead(this.#rest.toString("latin1", 0, end));
      if (this.#head === null) return "bad";
      this.#sink = createBodySink(this.#head.headers["content-type"]);
      this.#rest = this.#rest.subarray(end + 4);
      if (this.#head.headers["expect"] !== undefined && this.#rest.length === 0) return "continue";
    }
    return this.#head.length === null ? this.#readChunks(this.#head) : this.#readLength(this.#head, this.#head.length);
  }

  #readLength(head: Head, length: number): Step {
    if (length > bounds.bodyBytesMax) return "bad";
    const missing = length - this.#bodyBytes;
    const piece = this.#rest.length <= missing ? this.#rest : this.#rest.subarray(0, missing);
    this.#rest = this.#rest.subarray(piece.length);
    this.#addToBody(piece);
    return this.#bodyBytes < length ? "more" : this.#finish(head);
  }

  #readChunks(head: Head): Step {
    for (;;) {
      this.#chunk ??= this.#readSize();
      if (this.#chunk === null) return this.#rest.length > bounds.headBytesMax ? "bad" : "more";
      const { size, left } = this.#chunk;
      if (!(this.#bodyBytes + left <= bounds.bodyBytesMax)) return "bad";
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      this.#addToBody(piece);
      this.#chunk.left -= piece.length;
      if (this.#chunk.left > 0 || this.#rest.length < 2) return "more";
      this.#rest = this.#rest.subarray(2);
      this.#chunk = null;
      if (size === 0) return this.#finish(head);
    }
  }

  /** A chunk's size line; NaN if it is invalid. Trailers are not supported. */
  #readSize(): { size: number; left: number } | null {
    const end = this.#rest.indexOf("\r\n");
    if (end < 0) return null;
    const line = this.#rest.toString("latin1", 0, end);
    const size = /^[0-9a-fA-F]{1,8}\s*(;.*)?$/.test(line) ? Number.parseInt(line, 16) : Number.NaN;
    this.#rest = this.#rest.subarray(end + 2);
    return { size, left: size };
  }

  #addToBody(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#sink?.take(piece);
    this.#bodyBytes += piece.length;
  }

  #finish(head: Head): ReadRequest {
    const content = this.#sink?.finish() ?? { body: Buffer.alloc(0) };
    this.#head = null;
    this.#sink = null;
    this.#bodyBytes = 0;
    const queryAt = head.target.indexOf("?");
    return {
      method: head.method,
      path: queryAt < 0 ? head.target : head.target.slice(0, queryAt),
      query: queryAt < 0 ? "" : head.target.slice(queryAt + 1),
      headers: head.headers,
      ...content,
      close: head.headers["connection"]?.toLowerCase() === "close",
    };
  }
}

interface Head {
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  /** Null: chunked. */
  readonly length: number | null;
}

function readHead(text: string): Head | null {
  const lines = text.split("\r\n");
  const [method, target, version] = (lines[0] ?? "").split(" ");
  if (method === undefined || target === undefined || version !== "HTTP/1.1") return null;
  const headers: Record<string, string> = {};
  for (let index = 1; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const colon = line.indexOf(":");
    if (colon <= 0) return null;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const earlier = headers[name];
    headers[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  if (headers["transfer-encoding"] !== undefined) return { method, target, headers, length: null };
  const length = headers["content-length"] ?? "0";
  return /^\d{1,10}$/.test(length) ? { method, target, headers, length: Number(length) } : null;
}
