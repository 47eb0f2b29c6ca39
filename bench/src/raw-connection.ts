import type { Socket } from "bun";
import { StampReader } from "./event-stamp.ts";

/** Start, first body byte and end of an exchange, on this process's monotonic clock in milliseconds. */
export interface Exchange {
  readonly status: number;
  readonly startedAt: number;
  readonly firstBodyAt: number;
  readonly endedAt: number;
}

const lastBodyBytesMax = 256;

interface Waiting {
  readonly startedAt: number;
  readonly resolve: (exchange: Exchange) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A keep-alive HTTP/1.1 connection with minimal CPU cost for the measuring process: it sends prepared bytes and parses only status, length
 * and end of the response. One exchange at a time.
 */
export class RawConnection {
  /** Called with the timestamp of every streamed event: microseconds of the upstream's clock. */
  onStamp: ((microseconds: number) => void) | null = null;
  /** The last chunk of the last response body as text. The whole body, if it is short. */
  lastBody = "";
  /** The peer has closed it. This also happens while idle, after the keep-alive timeout. */
  closed = false;
  #socket: Socket<RawConnection> | null = null;
  #waiting: Waiting | null = null;
  #unsent: Uint8Array | null = null;
  #head = "";
  #inBody = false;
  #bodyLeft = 0;
  #chunkedTail: string | null = null;
  #status = 0;
  #firstBodyAt = 0;
  #stamps = new StampReader();

  static async open(port: number): Promise<RawConnection> {
    const connection = new RawConnection();
    connection.#socket = await Bun.connect<RawConnection>({
      hostname: "127.0.0.1",
      port,
      data: connection,
      socket: {
        open: (socket) => void socket.setNoDelay(true),
        data: (socket, piece) => socket.data.#receive(piece),
        drain: (socket) => socket.data.#flush(),
        close: (socket) => {
          socket.data.closed = true;
          socket.data.#fail(new Error("the connection was closed before the end of the response"));
        },
        error: (socket, error) => socket.data.#fail(error),
      },
    });
    return connection;
  }

  exchange(request: Uint8Array): Promise<Exchange> {
    return new Promise((resolve, reject) => {
      this.#waiting = { startedAt: performance.now(), resolve, reject };
      this.#head = "";
      this.#inBody = false;
      this.#chunkedTail = null;
      this.#stamps = new StampReader();
      this.#unsent = request;
      this.#flush();
    });
  }

  /** Sends more bytes of the current request. */
  more(bytes: Uint8Array): void {
    this.#unsent = this.#unsent === null ? bytes : Buffer.concat([this.#unsent, bytes]);
    this.#flush();
  }

  close(): void {
    this.#socket?.terminate();
  }

  #flush(): void {
    if (this.#unsent === null || this.#socket === null) return;
    const sent = this.#socket.write(this.#unsent);
    if (sent < 0) this.#fail(new Error("the connection is closed"));
    this.#unsent = sent >= 0 && sent < this.#unsent.length ? this.#unsent.subarray(sent) : null;
  }

  #receive(piece: Buffer): void {
    if (this.#inBody) this.#body(piece);
    else this.#beginning(piece);
  }

  #beginning(piece: Buffer): void {
    this.#head += piece.toString("latin1");
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const bodyBytes = this.#head.length - end - 4;
    const head = this.#head.slice(0, end).toLowerCase();
    this.#status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    this.#chunkedTail = length === undefined ? "" : null;
    this.#bodyLeft = Number(length ?? 0);
    this.#inBody = true;
    this.#firstBodyAt = 0;
    if (bodyBytes > 0 || this.#bodyLeft === 0) this.#body(piece.subarray(piece.length - bodyBytes));
  }

  #body(piece: Buffer): void {
    if (piece.length > 0 && this.#firstBodyAt === 0) this.#firstBodyAt = performance.now();
    if (this.onStamp !== null) this.#stamps.read(piece, this.onStamp);
    if (this.#chunkedTail === null) {
      this.#bodyLeft -= piece.length;
      if (this.#bodyLeft > 0) return;
      this.lastBody = piece.toString("latin1", 0, lastBodyBytesMax);
      this.#end();
      return;
    }
    // Our responses contain no text that looks like the last chunk.
    this.#chunkedTail = (this.#chunkedTail + piece.toString("latin1", Math.max(0, piece.length - 7))).slice(-7);
    if (this.#chunkedTail === "\r\n0\r\n\r\n") this.#end();
  }

  #end(): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({
      status: this.#status,
      startedAt: waiting.startedAt,
      firstBodyAt: this.#firstBodyAt,
      endedAt: performance.now(),
    });
  }

  #fail(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.reject(error);
  }
}
