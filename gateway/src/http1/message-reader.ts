import { readFields, refuseStray } from "./fields.ts";
import { HeadBytes } from "./head-bytes.ts";
import {
  type Framing,
  LastHead,
  type RequestHead,
  type ResponseHead,
  readRequestHead,
  readResponseHead,
} from "./heads.ts";
import { MalformedMessage } from "./malformed.ts";

/**
 * Receives a message as it arrives. Short pieces of the body are copies, long ones views of the pushed bytes; the chunks of one push
 * are moved together and passed as one piece.
 */
export interface MessageSink<Head> {
  onHead(head: Head): void;
  onBody(piece: Uint8Array): void;
  onEnd(): void;
}

export interface HeadLimits {
  /** Limit of the start line with all fields, of trailers, and of all chunk extensions together. */
  readonly headBytesMax: number;
  readonly fieldsMax: number;
}

type Phase =
  | "head"
  | "length"
  | "close"
  | "chunk_size"
  | "chunk_extension"
  | "chunk_size_end"
  | "chunk"
  | "chunk_end"
  | "chunk_end_feed"
  | "trailers"
  | "done";

const CR = 0x0d;
const LF = 0x0a;
const SEMICOLON = 0x3b;
/** 13 hexadecimal digits are 4 petabytes, and still exact numbers. */
const sizeDigitsMax = 13;
const interimMax = 32;
const emptyLinesMax = 8;
const movedByteByByteMax = 16;
const copiedPartMax = 4_096;
/** Longer heads are not compared with the next one. */
const comparedHeadLengthMax = 4_096;
const extensionPattern =
  /^(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)+$/;

/** Reads the messages of a connection. */
abstract class MessageReader<Head extends { readonly framing: Framing }> {
  protected readonly limits: HeadLimits;
  readonly #sink: MessageSink<Head>;
  readonly #head: HeadBytes;
  #phase: Phase = "head";
  /** Bytes left of the body, or of the current chunk. */
  #left = 0;
  #digits = 0;
  /** Range of the pushed bytes that holds the joined chunks; `to` is 0 while there are none. */
  #chunksFrom = 0;
  #chunksTo = 0;
  #extension = "";
  #extensionBytes = 0;

  constructor(limits: HeadLimits, sink: MessageSink<Head>) {
    this.limits = limits;
    this.#sink = sink;
    this.#head = new HeadBytes(limits.headBytesMax);
  }

  /** Whether no byte of the next message arrived yet. */
  get untouched(): boolean {
    return this.#phase === "done" || (this.#phase === "head" && this.#head.empty);
  }

  protected restart(): void {
    this.#phase = "head";
    this.#extensionBytes = 0;
  }

  /** Reads up to the end of the message and returns the number of bytes used. Throws MalformedMessage. */
  push(bytes: Buffer): number {
    let at = 0;
    try {
      while (at < bytes.length && this.#phase !== "done") at = this.#step(bytes, at);
    } finally {
      // Also what came before malformed bytes.
      this.#deliverChunks(bytes);
    }
    return at;
  }

  /** The connection closed. Returns whether the message was complete, or none had begun. */
  end(): boolean {
    if (this.#phase === "close") this.#finish();
    return this.untouched;
  }

  /** null for an interim response; the message itself follows. */
  protected abstract readHead(text: string): Head | null;

  #step(bytes: Buffer, at: number): number {
    switch (this.#phase) {
      case "head":
        return this.#takeHead(bytes, at);
      case "length":
        return this.#takeCounted(bytes, at);
      case "chunk":
        return this.#takeChunk(bytes, at);
      case "close":
        this.#sink.onBody(partOf(bytes, at, bytes.length));
        return bytes.length;
      case "trailers":
        return this.#takeTrailers(bytes, at);
      case "chunk_size":
        return this.#takeSize(bytes, at);
      case "chunk_extension":
        return this.#takeExtension(bytes, at);
      case "chunk_size_end":
        this.#expect(bytes[at], LF, this.#left === 0 ? "trailers" : "chunk");
        return at + 1;
      case "chunk_end":
        this.#expect(bytes[at], CR, "chunk_end_feed");
        return at + 1;
      case "chunk_end_feed":
        this.#expect(bytes[at], LF, "chunk_size");
        return at + 1;
      case "done":
        return at;
    }
  }

  #takeHead(bytes: Buffer, at: number): number {
    const after = this.#head.take(bytes, at);
    const text = this.#head.text;
    if (text === null) return after;
    this.#head.clear();
    const head = this.readHead(text);
    if (head === null) return after;
    const { framing } = head;
    if (framing.kind === "length") this.#left = framing.bytes;
    this.#digits = 0;
    this.#phase = framing.kind === "chunked" ? "chunk_size" : framing.kind === "none" ? "done" : framing.kind;
    const ended = framing.kind === "none" || (framing.kind === "length" && framing.bytes === 0);
    if (ended) this.#phase = "done";
    this.#sink.onHead(head);
    if (ended) this.#sink.onEnd();
    return after;
  }

  #takeCounted(bytes: Buffer, at: number): number {
    const taken = Math.min(this.#left, bytes.length - at);
    this.#left -= taken;
    const last = this.#left === 0;
    if (last) this.#phase = "done";
    this.#sink.onBody(partOf(bytes, at, at + taken));
    if (last) this.#sink.onEnd();
    return at + taken;
  }

  /** Joins chunks, because a sender may make a chunk of every byte. */
  #takeChunk(bytes: Buffer, at: number): number {
    const end = at + Math.min(this.#left, bytes.length - at);
    this.#left -= end - at;
    const ended = this.#left === 0;
    if (this.#chunksTo === 0) this.#chunksFrom = this.#chunksTo = at;
    if (this.#chunksTo === at) this.#chunksTo = end;
    else if (end - at > movedByteByByteMax) {
      bytes.copyWithin(this.#chunksTo, at, end);
      this.#chunksTo += end - at;
    } else while (at < end) bytes[this.#chunksTo++] = bytes[at++] ?? 0;
    if (!ended) return end;
    this.#digits = 0;
    const isWhole = bytes[end] === CR && bytes[end + 1] === LF;
    this.#phase = isWhole ? "chunk_size" : "chunk_end";
    return isWhole ? end + 2 : end;
  }

  #deliverChunks(bytes: Buffer): void {
    const to = this.#chunksTo;
    if (to === 0) return;
    this.#chunksTo = 0;
    this.#sink.onBody(partOf(bytes, this.#chunksFrom, to));
  }

  /** Reads digit by digit: a stream's chunks are short, and their heads may be split. */
  #takeSize(bytes: Buffer, at: number): number {
    for (; at < bytes.length; at++) {
      const code = bytes[at] ?? 0;
      const digit = hexDigit(code);
      if (digit >= 0) {
        if (this.#digits === 0) this.#left = 0;
        if (++this.#digits > sizeDigitsMax) throw new MalformedMessage("framing", "The size of a chunk is too long.");
        this.#left = this.#left * 16 + digit;
        continue;
      }
      if (this.#digits === 0) throw new MalformedMessage("framing", "A chunk has no size.");
      if (code === CR) {
        if (bytes[at + 1] !== LF) this.#phase = "chunk_size_end";
        else {
          this.#phase = this.#left === 0 ? "trailers" : "chunk";
          at++;
        }
      } else if (code === SEMICOLON) {
        this.#phase = "chunk_extension";
        this.#extension = "";
        return at;
      } else throw new MalformedMessage("framing", "The size of a chunk is not a number.");
      return at + 1;
    }
    return at;
  }

  /** Extensions are checked and ignored. */
  #takeExtension(bytes: Buffer, at: number): number {
    const end = bytes.indexOf(CR, at);
    const to = end < 0 ? bytes.length : end;
    this.#extensionBytes += to - at;
    if (this.#extensionBytes > this.limits.headBytesMax) {
      throw new MalformedMessage("framing", "The extensions of the chunks are too long.");
    }
    this.#extension += bytes.toString("latin1", at, to);
    if (end < 0) return to;
    if (!extensionPattern.test(this.#extension))
      throw new MalformedMessage("framing", "The extension of a chunk is malformed.");
    this.#phase = "chunk_size_end";
    return end + 1;
  }

  /** Trailers are checked and dropped. */
  #takeTrailers(bytes: Buffer, at: number): number {
    const after = this.#head.takeTrailers(bytes, at);
    const text = this.#head.text;
    if (text === null) return after;
    this.#head.clear();
    refuseStray(text);
    const trailers = readFields(text, 0, this.limits.fieldsMax);
    // Another parser may use them to find the next message.
    if (trailers.has("content-length") || trailers.has("transfer-encoding")) {
      throw new MalformedMessage("framing", "A trailer has a framing field.");
    }
    this.#deliverChunks(bytes);
    this.#finish();
    return after;
  }

  #expect(code: number | undefined, wanted: number, next: Phase): void {
    if (code !== wanted) throw new MalformedMessage("framing", "The end of a chunk is malformed.");
    this.#phase = next;
  }

  #finish(): void {
    this.#phase = "done";
    this.#sink.onEnd();
  }
}

/** Reads the responses of a connection. Call `begin` before each. */
export class ResponseReader extends MessageReader<ResponseHead> {
  #bodyless = false;
  #interim = 0;

  /** `method`: the request's. */
  begin(method: string): void {
    this.#bodyless = method === "HEAD" || method === "CONNECT";
    this.#interim = 0;
    this.restart();
  }

  /** Whether no byte of the response arrived, nor of an interim one. */
  get silent(): boolean {
    return this.untouched && this.#interim === 0;
  }

  protected readHead(text: string): ResponseHead | null {
    const head = readResponseHead(text, this.limits.fieldsMax, this.#bodyless);
    if (head.status >= 200) return head;
    if (head.status === 101) throw new MalformedMessage("syntax", "There was no request for another protocol.");
    if (++this.#interim > interimMax) throw new MalformedMessage("syntax", "There are too many interim responses.");
    return null;
  }
}

/** Reads the requests of a connection. Call `begin` before each but the first. */
export class RequestReader extends MessageReader<RequestHead> {
  #emptyLines = 0;
  #last: LastHead | null = null;

  begin(): void {
    this.#emptyLines = 0;
    this.restart();
  }

  protected readHead(text: string): RequestHead | null {
    const again = this.#last?.again(text) ?? null;
    if (again !== null) return again;
    // Empty lines before a request are allowed (RFC 9112 §2.2).
    let at = 0;
    for (; text.startsWith("\r\n", at); at += 2) {
      if (++this.#emptyLines > emptyLinesMax) throw new MalformedMessage("syntax", "There are too many empty lines.");
    }
    if (at === text.length) return null;
    const head = readRequestHead(at === 0 ? text : text.slice(at), this.limits.fieldsMax);
    this.#last = at === 0 && text.length <= comparedHeadLengthMax ? new LastHead(text, head) : null;
    return head;
  }
}

/** The first view of a buffer takes the runtime longer than a short copy, which also does not keep the rest in memory. */
function partOf(bytes: Buffer, from: number, to: number): Buffer {
  if (to - from === bytes.length) return bytes;
  if (to - from > copiedPartMax) return bytes.subarray(from, to);
  const copy = Buffer.allocUnsafeSlow(to - from);
  bytes.copy(copy, 0, from, to);
  return copy;
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
