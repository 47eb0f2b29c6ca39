import { bounds } from "./bounds.ts";
import type { SimulatorRequest } from "./simulator.ts";

export interface ReadRequest extends SimulatorRequest {
  /** The caller wants the connection closed after the answer. */
  readonly close: boolean;
}

/** `more`: feed more bytes. `continue`: the same, and the caller waits for 100 Continue. `bad`: not HTTP/1.1. */
export type Step = ReadRequest | "more" | "continue" | "bad";

/**
 * Reads HTTP/1.1 requests out of a byte stream, one after the other. Written by hand because the answers are: one
 * socket must be able to serve both a perfect vendor and one that breaks every rule.
 */
export class RequestReader {
  #rest: Buffer = Buffer.alloc(0);
  #head: Head | null = null;
  #body: Buffer[] = [];
  #bodyBytes = 0;

  /** Takes bytes (or none, to ask for a request that is already here). */
  feed(bytes: Buffer): Step {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    if (this.#head === null) {
      const end = this.#rest.indexOf("\r\n\r\n");
      if (end < 0) return this.#rest.length > bounds.headBytesMax ? "bad" : "more";
      this.#head = readHead(this.#rest.toString("latin1", 0, end));
      if (this.#head === null) return "bad";
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
    this.#keep(piece);
    return this.#bodyBytes < length ? "more" : this.#finish(head);
  }

  #readChunks(head: Head): Step {
    for (;;) {
      const end = this.#rest.indexOf("\r\n");
      if (end < 0) return this.#rest.length > bounds.headBytesMax ? "bad" : "more";
      const line = this.#rest.toString("latin1", 0, end);
      if (!/^[0-9a-fA-F]{1,8}\s*(;.*)?$/.test(line)) return "bad";
      const size = Number.parseInt(line, 16);
      const from = end + 2;
      if (this.#bodyBytes + size > bounds.bodyBytesMax) return "bad";
      if (this.#rest.length < from + size + 2) return "more";
      this.#keep(this.#rest.subarray(from, from + size));
      this.#rest = this.#rest.subarray(from + size + 2);
      if (size === 0) return this.#finish(head);
    }
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#body.push(piece);
    this.#bodyBytes += piece.length;
  }

  #finish(head: Head): ReadRequest {
    const body = this.#body.length === 1 ? (this.#body[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#body);
    this.#head = null;
    this.#body = [];
    this.#bodyBytes = 0;
    const mark = head.target.indexOf("?");
    return {
      method: head.method,
      path: mark < 0 ? head.target : head.target.slice(0, mark),
      query: mark < 0 ? "" : head.target.slice(mark + 1),
      headers: head.headers,
      body,
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
