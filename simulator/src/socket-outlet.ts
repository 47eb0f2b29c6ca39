import { STATUS_CODES } from "node:http";
import type { HeaderRow, Outlet } from "./outlet.ts";

/** The four things an answer does to a socket. */
export interface Line {
  /** How many bytes the kernel took; less than given means: wait for `drained`. */
  write(bytes: Uint8Array): number;
  /** FIN. */
  finish(): void;
  /** RST. */
  reset(): void;
  /** The answer is complete and the connection may carry another request. */
  next(): void;
}

/** One answer on one HTTP/1.1 connection. */
export class SocketOutlet implements Outlet {
  closed = false;
  readonly #line: Line;
  readonly #lasts: boolean;
  #gone: () => void = () => {};
  #chunked = false;
  #backlog: Uint8Array | null = null;
  #drained: (() => void) | null = null;
  #after: (() => void) | null = null;

  /** `lasts`: the connection stays open after a clean end. */
  constructor(line: Line, lasts: boolean) {
    this.#line = line;
    this.#lasts = lasts;
  }

  onGone(act: () => void): void {
    this.#gone = act;
  }

  head(status: number, headers: readonly HeaderRow[], length: number | null): void {
    if (this.closed) return;
    this.#chunked = length === null;
    this.#send(Buffer.from(this.#headText(status, headers, length)));
  }

  whole(status: number, headers: readonly HeaderRow[], body: string): Promise<void> | null {
    if (this.closed) return null;
    this.#send(Buffer.from(this.#headText(status, headers, Buffer.byteLength(body)) + body));
    return this.#complete();
  }

  write(bytes: Uint8Array): Promise<void> | null {
    if (this.closed || bytes.length === 0) return null;
    this.#send(this.#chunked ? chunk(bytes) : bytes);
    return this.#room();
  }

  end(): Promise<void> | null {
    if (this.closed) return null;
    if (this.#chunked) this.#send(lastChunk);
    return this.#complete();
  }

  raw(bytes: Uint8Array): void {
    if (!this.closed) this.#send(bytes);
  }

  cut(): void {
    this.#over(() => this.#line.finish());
  }

  /** At once: what was not sent yet is lost, as with a vendor that dies. */
  reset(): void {
    if (this.closed) return;
    this.closed = true;
    this.#line.reset();
    this.#wake();
  }

  /** The socket takes bytes again. */
  drain(): void {
    const backlog = this.#backlog;
    if (backlog === null) return;
    this.#backlog = null;
    this.#send(backlog);
    if (this.#backlog !== null) return;
    const after = this.#after;
    this.#after = null;
    after?.();
    this.#wake();
  }

  /** The socket is closed. */
  leave(): void {
    this.#backlog = null;
    const unfinished = !this.closed || this.#after !== null;
    this.closed = true;
    this.#after = null;
    if (unfinished) this.#gone();
    this.#wake();
  }

  #complete(): Promise<void> | null {
    this.#over(() => (this.#lasts ? this.#line.next() : this.#line.finish()));
    return this.#room();
  }

  /** Null when the kernel has everything; else a promise of it. */
  #room(): Promise<void> | null {
    if (this.#backlog === null) return null;
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  /** Ends the answer once everything given so far has left. */
  #over(act: () => void): void {
    if (this.closed) return;
    this.closed = true;
    if (this.#backlog === null) act();
    else this.#after = act;
  }

  #send(bytes: Uint8Array): void {
    if (this.#backlog !== null) {
      this.#backlog = Buffer.concat([this.#backlog, bytes]);
      return;
    }
    const taken = Math.max(0, this.#line.write(bytes));
    if (taken < bytes.length) this.#backlog = bytes.subarray(taken);
  }

  #wake(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }

  #headText(status: number, headers: readonly HeaderRow[], length: number | null): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
    for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
    if (!this.#lasts) text += "connection: close\r\n";
    // RFC 9110 §8.6: a 204 has no content-length.
    if (status === 204) return `${text}\r\n`;
    return `${text}${length === null ? "transfer-encoding: chunked" : `content-length: ${length}`}\r\n\r\n`;
  }
}

const lastChunk = Buffer.from("0\r\n\r\n");

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}
