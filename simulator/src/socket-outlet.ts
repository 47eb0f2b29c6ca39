import { STATUS_CODES } from "node:http";
import type { HeaderRow, Outlet } from "./outlet.ts";

/** The operations of a connection that an answer needs. */
export interface Connection {
  /** Returns how many bytes the kernel accepted. If it is fewer than given, wait for `drain`. */
  write(bytes: Uint8Array): number;
  /** FIN. */
  finish(): void;
  /** RST. */
  reset(): void;
  /** The answer is complete, and the connection can be used for another request. */
  next(): void;
}

/** One answer on an HTTP/1.1 connection. */
export class SocketOutlet implements Outlet {
  closed = false;
  readonly #connection: Connection;
  readonly #staysOpen: boolean;
  #gone: () => void = () => {};
  #chunked = false;
  #backlog: Uint8Array | null = null;
  #drained: (() => void) | null = null;
  #onSent: (() => void) | null = null;

  /** `staysOpen`: the connection remains open after a clean end. */
  constructor(connection: Connection, staysOpen: boolean) {
    this.#connection = connection;
    this.#staysOpen = staysOpen;
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
    return this.#whenSent();
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
    this.#close(() => this.#connection.finish());
  }

  /** Closes at once. Unsent bytes are lost, as with a vendor that crashes. */
  reset(): void {
    if (this.closed) return;
    this.closed = true;
    this.#connection.reset();
    this.#wake();
  }

  /** The socket accepts bytes again. */
  drain(): void {
    const backlog = this.#backlog;
    if (backlog === null) return;
    this.#backlog = null;
    this.#send(backlog);
    if (this.#backlog !== null) return;
    const onSent = this.#onSent;
    this.#onSent = null;
    onSent?.();
    this.#wake();
  }

  /** The socket is closed. */
  leave(): void {
    this.#backlog = null;
    const unfinished = !this.closed || this.#onSent !== null;
    this.closed = true;
    this.#onSent = null;
    if (unfinished) this.#gone();
    this.#wake();
  }

  #complete(): Promise<void> | null {
    this.#close(() => (this.#staysOpen ? this.#connection.next() : this.#connection.finish()));
    return this.#whenSent();
  }

  /** Null if the kernel has accepted everything, else a promise that resolves when it has. */
  #whenSent(): Promise<void> | null {
    if (this.#backlog === null) return null;
    return new Promise((resolve) => {
      this.#drained = resolve;
    });
  }

  /** Ends the answer once everything written so far has been sent. */
  #close(act: () => void): void {
    if (this.closed) return;
    this.closed = true;
    if (this.#backlog === null) act();
    else this.#onSent = act;
  }

  #send(bytes: Uint8Array): void {
    if (this.#backlog !== null) {
      this.#backlog = Buffer.concat([this.#backlog, bytes]);
      return;
    }
    const accepted = Math.max(0, this.#connection.write(bytes));
    if (accepted < bytes.length) this.#backlog = bytes.subarray(accepted);
  }

  #wake(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
  }

  #headText(status: number, headers: readonly HeaderRow[], length: number | null): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Unknown"}\r\n`;
    for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
    if (!this.#staysOpen) text += "connection: close\r\n";
    // RFC 9110 §8.6: a 204 has no content-length.
    if (status === 204) return `${text}\r\n`;
    return `${text}${length === null ? "transfer-encoding: chunked" : `content-length: ${length}`}\r\n\r\n`;
  }
}

const lastChunk = Buffer.from("0\r\n\r\n");

function chunk(bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n")]);
}
