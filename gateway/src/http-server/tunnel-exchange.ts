import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import { type Fields, fieldOf, type RequestHead, ResponseReader } from "#http1/index.ts";
import { continueBytes, expectsContinue, fieldLines } from "./answer.ts";
import type { ServerExchange } from "./exchange.ts";
import { type Guarded, InnerSocket } from "./inner-socket.ts";
import { type MessageGuard, MessageMeter } from "./message-meter.ts";
import type { ServerConnection } from "./server-connection.ts";

const limits = { headBytesMax: bounds.upstreamHeadBytesMax, fieldsMax: bounds.upstreamFieldsMax };
const switching = Buffer.from("HTTP/1.1 101 ");
const nothing = Buffer.alloc(0);

/**
 * A request that the inner server answers, on a connection of its own to it. It is written anew, so that both read the same;
 * once the inner server has agreed to another protocol, bytes pass as they are.
 */
export class TunnelExchange implements ServerExchange, Guarded {
  readonly #connection: ServerConnection;
  readonly #head: RequestHead;
  readonly #innerSocket: InnerSocket;
  readonly #upgrade: boolean;
  readonly #reader: ResponseReader;
  #inner: Socket | null = null;
  #unsent: Buffer = nothing;
  #first: Buffer = nothing;
  #raw = false;
  #meter: MessageMeter | null = null;
  /** A message was refused: the caller is not read any more. */
  #deaf = false;
  #begun = false;
  #over = false;
  #connected = false;
  #late = false;
  readonly #onUnsent: (late: boolean) => void;

  /** `onUnsent`: the request ended before the inner server had any of it; `late`: because its body came too slowly. */
  constructor(
    connection: ServerConnection,
    head: RequestHead,
    innerSocket: InnerSocket,
    onUnsent: (late: boolean) => void,
  ) {
    this.#connection = connection;
    this.#head = head;
    this.#innerSocket = innerSocket;
    this.#onUnsent = onUnsent;
    this.#upgrade = head.method === "GET" && fieldOf(head.fields, "upgrade") !== null;
    this.#reader = new ResponseReader(limits, {
      onHead: ({ status, fields, framing }) => {
        this.#begun = true;
        const length = framing.kind === "length" ? framing.bytes : framing.kind === "none" ? declaredIn(fields) : null;
        const sent = connection.answerBegin(status, fieldLines(fields), length);
        if (!sent && framing.kind !== "none") this.#finish();
      },
      onBody: (piece) => {
        connection.answerPiece(piece);
        if (!connection.full) return;
        connection.flush();
        if (connection.full) this.#inner?.pause();
      },
      onEnd: () => this.#finish(),
    });
    this.#reader.begin(head.method);
    this.#unsent = Buffer.from(this.#requestHead(), "latin1");
  }

  start(): void {
    this.#connection.unread.owner = null;
    if (this.#head.minor === 1 && expectsContinue(fieldOf(this.#head.fields, "expect")) === true) {
      if (!this.#connection.bodyOver) this.#connection.raw(continueBytes);
    }
    this.#connection.awaitBody();
    if (this.#connection.bodyOver) this.#connect();
  }

  /** Not before the request is whole, or long: whoever sends one slowly holds no more than its own connection. */
  #connect(): void {
    if (this.#connected || this.#over) return;
    this.#connected = true;
    Bun.connect({
      unix: this.#innerSocket.path,
      socket: {
        open: (socket) => {
          this.#inner = socket;
          if (this.#over) socket.terminate();
          else this.#push();
        },
        data: (_socket, bytes) => this.#take(bytes),
        drain: () => this.#push(),
        end: () => this.#ended(),
        close: () => this.#ended(),
        error: () => this.#ended(),
        connectError: () => this.#ended(),
      },
    }).catch(() => this.#ended());
  }

  onBody(piece: Uint8Array): void {
    if (this.#head.framing.kind !== "chunked") {
      this.#send(piece);
      return;
    }
    this.#send(Buffer.from(`${piece.length.toString(16)}\r\n`, "latin1"));
    this.#send(piece);
    this.#send(Buffer.from("\r\n", "latin1"));
  }

  onBodyEnd(): void {
    if (this.#head.framing.kind === "chunked") this.#send(Buffer.from("0\r\n\r\n", "latin1"));
    this.#connect();
  }

  onMalformed(): void {
    this.#break();
  }

  onSlow(): boolean {
    if (this.#raw) {
      this.#deaf = true;
      this.#meter?.guard.slow();
      return true;
    }
    if (this.#begun) this.#break();
    this.#late = true;
    return this.#begun;
  }

  onCallerDone(): void {
    // Whoever only asked, and says that this was all, still waits for its answer.
    const asks = this.#head.method === "GET" || this.#head.method === "HEAD";
    if (this.#raw || this.#begun || !asks || !this.#connection.bodyOver) this.#connection.cut();
  }

  onSent(): void {}

  onGone(): void {
    if (!this.#over && !this.#connected) this.#onUnsent(this.#late);
    this.#over = true;
    this.#innerSocket.forget(this);
    this.#inner?.terminate();
  }

  onRoom(): void {
    this.#inner?.resume();
  }

  guard(guard: MessageGuard): void {
    this.#meter = new MessageMeter(guard);
  }

  onRaw(bytes: Uint8Array): void {
    if (this.#deaf) return;
    this.#deaf = this.#meter?.push(bytes) === false;
    const { pace } = this.#connection.input;
    if (this.#meter?.unfinished === true && !this.#deaf) pace.moved(bytes.length);
    else pace.stop();
    if (!this.#deaf) this.#send(bytes);
  }

  #send(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#unsent = this.#unsent.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#unsent, bytes]);
    this.#push();
    if (this.#unsent.length <= bounds.pipelinedBytesMax) return;
    this.#connect();
    this.#connection.input.pause();
  }

  #push(): void {
    if (this.#inner === null || this.#over || this.#unsent.length === 0) return;
    const taken = Math.max(0, this.#inner.write(this.#unsent));
    this.#unsent = taken === this.#unsent.length ? nothing : this.#unsent.subarray(taken);
    if (this.#unsent.length === 0) this.#connection.input.resume();
  }

  #take(bytes: Buffer): void {
    if (this.#over) return;
    if (this.#raw) {
      this.#pass(bytes);
      return;
    }
    const all = this.#first.length === 0 ? bytes : Buffer.concat([this.#first, bytes]);
    if (this.#upgrade && !this.#begun) {
      const known = Math.min(all.length, switching.length);
      if (all.compare(switching, 0, known, 0, known) === 0) {
        this.#first = all;
        if (known < switching.length) return;
        this.#raw = true;
        this.#first = nothing;
        this.#pass(all);
        this.#connection.becomeRaw();
        return;
      }
      this.#first = nothing;
    }
    try {
      this.#reader.push(all);
    } catch {
      this.#break();
    }
  }

  #pass(bytes: Buffer): void {
    this.#connection.raw(bytes);
    if (this.#connection.full) this.#inner?.pause();
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#inner?.terminate();
    this.#connection.answerEnd();
  }

  /** The inner server's connection has ended. */
  #ended(): void {
    if (this.#over) return;
    if (this.#raw) {
      this.#over = true;
      this.#connection.close();
    } else {
      // A body that ends with its connection ends here.
      this.#reader.end();
      this.#break();
    }
  }

  #break(): void {
    if (this.#over) return;
    this.#over = true;
    this.#inner?.terminate();
    if (this.#begun || this.#raw) this.#connection.answerBroken();
    else this.#connection.cut();
  }

  /** With what concerns the two connections as we mean it. */
  #requestHead(): string {
    const { method, target, fields, framing } = this.#head;
    let text = `${method} ${target} HTTP/1.1\r\n${InnerSocket.headerName}: ${this.#innerSocket.tell(this.#connection, this.#upgrade ? this : null)}\r\n`;
    for (let index = 0; index < fields.length; index += 2) {
      const name = fields[index] ?? "";
      if (ours.has(name) || (!this.#upgrade && ofUpgrades.has(name))) continue;
      text += `${name}: ${fields[index + 1] ?? ""}\r\n`;
    }
    if (!this.#upgrade) text += "connection: close\r\n";
    if (framing.kind === "length") text += `content-length: ${framing.bytes}\r\n`;
    if (framing.kind === "chunked") text += "transfer-encoding: chunked\r\n";
    return `${text}\r\n`;
  }
}

const ours: ReadonlySet<string> = new Set([
  InnerSocket.headerName,
  "expect",
  "keep-alive",
  "proxy-connection",
  "content-length",
  "transfer-encoding",
]);
const ofUpgrades: ReadonlySet<string> = new Set(["connection", "upgrade"]);

/** Of an answer to a HEAD. */
function declaredIn(fields: Fields): number | null {
  const declared = fieldOf(fields, "content-length");
  return declared === null ? null : Number(declared);
}
