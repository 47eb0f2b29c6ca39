import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import {
  type ByteSink,
  MalformedMessage,
  type MessageSink,
  MessageWriter,
  type ResponseHead,
  ResponseReader,
} from "#http1/index.ts";
import type { OutboundRequest } from "#ports/index.ts";
import { ConnectAnswer, type ProxyWay } from "./proxy-way.ts";

/** One address of an origin. It is dialed as it is, so that no second lookup can return another one. */
export interface Target {
  readonly address: string;
  readonly port: number;
  /** Connections that are kept for their next request, the longest idle first. */
  readonly idle: Connection[];
  /** Monotonic time of the last answer: idle connections may be that old. */
  answeredMs: number;
}

/** How to reach a target. */
interface Dialing {
  readonly tls: BunFetchRequestInitTLS | undefined;
  /** null: without a proxy. */
  readonly way: ProxyWay | null;
}

/** The user of a connection for one request. Nothing is called after `onEnd` or `onBroken`. */
export interface ConnectionUser extends MessageSink<ResponseHead> {
  /** The connection is open; writes are sent. */
  onReady(connection: Connection): void;
  /** All bytes of this read were passed on. */
  onRead(): void;
  /** All written bytes have left this process. */
  onDrain(): void;
  /** Instead of `onEnd`. `thrown`: an error of the socket, the handshake or the parser; undefined: the upstream closed the connection. */
  onBroken(thrown: unknown): void;
}

const limits = { headBytesMax: bounds.upstreamHeadBytesMax, fieldsMax: bounds.upstreamFieldsMax };

/** A connection to one address of an upstream, used for one request at a time. Never throws. */
export class Connection implements ByteSink, MessageSink<ResponseHead> {
  readonly target: Target;
  /** True once it is open. */
  ready = false;
  /** True until the proxy has opened a tunnel to the upstream. */
  asksProxy = false;
  /** Monotonic time at which its last request ended, for the pool. */
  idleSinceMs = 0;
  /** Called if it closes while idle. */
  onIdleEnd: ((connection: Connection) => void) | null = null;
  /** Number of requests sent, including the current one. */
  uses = 0;
  /** Bytes of the current request may have been sent. */
  wrote = false;
  readonly #writer = new MessageWriter(this);
  #user: ConnectionUser | null;
  #socket: Pick<Socket, "pause" | "resume" | "terminate" | "write"> | null = null;
  readonly #reader = new ResponseReader(limits, this);
  /** Ready as soon as it is open, without a TLS handshake. */
  #isPlain = true;
  #reusable = false;
  /** The answer is complete, and `onEnd` was not called yet. */
  #whole = false;
  #paused = false;
  #over = false;
  /** See `beforeSending` of OutboundRequest; undefined once it was called. */
  #check: OutboundRequest["beforeSending"];

  private constructor(target: Target, user: ConnectionUser) {
    this.target = target;
    this.#user = user;
  }

  /** Connects to the checked address. The callbacks come later, not within this call. */
  static open(route: Dialing, target: Target, user: ConnectionUser): Connection {
    const connection = new Connection(target, user);
    connection.#dial(route);
    return connection;
  }

  /** No byte of an answer has arrived. */
  get untouched(): boolean {
    return this.#reader.silent;
  }

  /** Begins to serve another user. Only after `release` returned true. */
  use(user: ConnectionUser): void {
    this.#user = user;
    this.onIdleEnd = null;
  }

  /** Call before the first byte of a request. */
  begin(method: string): void {
    this.uses++;
    this.wrote = false;
    this.#reusable = false;
    this.#reader.begin(method);
  }

  /** Returns false if the socket did not take all bytes; `onDrain` follows. */
  write(bytes: Uint8Array): boolean {
    if (this.#over) return false;
    this.#writer.raw(bytes);
    return this.#writer.sent;
  }

  /** Sends a whole request at the end of this turn, with `onDrain` after it. */
  writeWhole(
    head: readonly string[],
    pieces: readonly Uint8Array[],
    sends: TurnSends,
    check: OutboundRequest["beforeSending"],
  ): void {
    if (this.#over) return;
    this.#check = check;
    this.#writer.begin(head, false);
    for (const piece of pieces) this.#writer.piece(piece);
    sends.add(this);
  }

  /** Writes as much as the socket takes. */
  send(): void {
    if (this.#over || this.#writer.idle) return;
    const check = this.#check;
    this.#check = undefined;
    if (!this.passes(check)) return;
    if (this.#writer.sent) this.#writer.flush();
    else this.#writer.drain();
    if (this.#writer.sent) this.#user?.onDrain();
  }

  /** Returns false if the request must not be sent; its user then gets the failure. */
  passes(check: OutboundRequest["beforeSending"]): boolean {
    try {
      check?.();
      return true;
    } catch (thrown) {
      this.#unusable(thrown);
      return false;
    }
  }

  /** Stops reading, which slows the upstream down. */
  pause(): void {
    if (this.#paused || this.#over) return;
    this.#paused = true;
    this.#socket?.pause();
  }

  resume(): void {
    if (!this.#paused || this.#over) return;
    this.#paused = false;
    this.#socket?.resume();
  }

  /** Ends the use. Returns whether the connection can be reused. `sent`: the whole request was sent. */
  release(sent: boolean): boolean {
    this.#user = null;
    const good = this.#reusable && sent && this.#writer.idle && !this.#over;
    if (!good) this.destroy();
    else this.resume();
    return good;
  }

  /** Closes it at once, without callbacks. */
  destroy(): void {
    this.#user = null;
    this.onIdleEnd = null;
    this.#over = true;
    this.#writer.clear();
    this.#socket?.terminate();
  }

  #dial({ tls, way }: Dialing): void {
    const { address: hostname, port } = this.target;
    const request = way?.connect ?? null;
    this.asksProxy = way !== null;
    this.#isPlain = tls === undefined;
    const events = Connection.#events;
    // The runtime throws for a certificate that it cannot read, and otherwise rejects with the error that `connectError` gets.
    const dial = async (): Promise<unknown> =>
      request === null
        ? Bun.connect<Connection>({ hostname, port, data: this, ...(tls && { tls }), socket: events })
        : Bun.connect({ hostname, port, socket: this.#proxyEvents(tls ?? {}, request) });
    dial().catch((thrown: unknown) => this.#ended(thrown));
  }

  /** The same for all connections, so that an open one keeps no functions. */
  static readonly #events: Bun.SocketHandler<Connection> = {
    open: (socket) => {
      const { data } = socket;
      data.#socket = socket;
      if (data.#over) socket.terminate();
      else if (data.#isPlain) data.#opened();
    },
    handshake: ({ data }, _done, refused: Error | null | undefined) => {
      if (refused === null || refused === undefined) data.#opened();
      else data.#unusable(refused);
    },
    data: ({ data }, bytes) => data.#take(bytes),
    drain: ({ data }) => data.send(),
    end: ({ data }) => data.#closed(),
    close: ({ data }, thrown) => data.#ended(thrown),
    error: ({ data }, thrown) => data.#ended(thrown),
    connectError: ({ data }, thrown) => data.#ended(thrown),
  };

  /**
   * Asks the proxy in plain text; the upstream's certificate is checked inside the tunnel. Once the tunnel is open, events reach both
   * handlers, and these ignore them.
   */
  #proxyEvents(tls: BunFetchRequestInitTLS, request: string) {
    const answer = new ConnectAnswer();
    const ended = (thrown?: Error): void => {
      if (this.asksProxy) this.#ended(thrown);
    };
    return {
      open: (socket: Socket) => {
        this.#socket = socket;
        if (this.#over) socket.terminate();
        else this.write(Buffer.from(request, "latin1"));
      },
      data: (socket: Socket, bytes: Buffer) => {
        if (this.#over || !this.asksProxy) return;
        try {
          if (!answer.push(bytes)) return;
          this.asksProxy = false;
          socket.upgradeTLS({ data: this, tls, socket: Connection.#events });
        } catch (thrown) {
          this.#unusable(thrown);
        }
      },
      drain: () => {
        if (this.asksProxy) this.send();
      },
      end: () => ended(),
      close: (_socket: Socket, thrown?: Error) => ended(thrown),
      error: (_socket: Socket, thrown: Error) => ended(thrown),
      connectError: (_socket: Socket, thrown: Error) => this.#ended(thrown),
    };
  }

  writeBytes(bytes: Uint8Array, length: number): number {
    const sent = this.#socket?.write(bytes, 0, length) ?? 0;
    if (sent > 0) this.wrote = true;
    return sent;
  }

  onHead(head: ResponseHead): void {
    this.#reusable = head.persistent;
    this.#user?.onHead(head);
  }

  onBody(piece: Uint8Array): void {
    this.#user?.onBody(piece);
  }

  onEnd(): void {
    this.#whole = true;
  }

  #opened(): void {
    if (this.#over) return;
    this.asksProxy = false;
    this.ready = true;
    this.#user?.onReady(this);
  }

  #take(bytes: Buffer): void {
    if (this.#over) return;
    // Bytes without a request.
    if (this.#user === null || !this.wrote) {
      this.#unusable(new MalformedMessage("syntax", "The upstream sent data without a request."));
      return;
    }
    try {
      const taken = this.#reader.push(bytes);
      // Bytes after the answer belong to no request.
      if (taken < bytes.length) this.#reusable = false;
      if (this.#whole) this.#tellEnd();
      else this.#user?.onRead();
    } catch (thrown) {
      this.#unusable(thrown);
    }
  }

  /** Called after all bytes of the read, since the connection may have another user within the call. */
  #tellEnd(): void {
    if (!this.#whole) return;
    this.#whole = false;
    this.#user?.onEnd();
  }

  /** The upstream closed its side. */
  #closed(): void {
    if (this.#over) return;
    if (this.#user === null || this.uses === 0) return;
    this.#reader.end();
    this.#tellEnd();
  }

  #unusable(thrown: unknown): void {
    this.#ended(thrown);
    this.#socket?.terminate();
  }

  /** Closes with the first reason. */
  #ended(thrown: unknown): void {
    if (this.#over) return;
    const user = this.#user;
    this.#over = true;
    this.#writer.clear();
    this.#user = null;
    const onIdleEnd = this.onIdleEnd;
    this.onIdleEnd = null;
    if (user === null) onIdleEnd?.(this);
    else user.onBroken(thrown);
  }
}

/**
 * Sends the requests of one turn of the event loop together: an upstream on this machine wakes once for all of them. Sockets are read
 * before, so that bytes that have arrived on a kept connection close it and do not count as the answer.
 */
export class TurnSends {
  #senders: Connection[] = [];

  add(sender: Connection): void {
    const waiting = this.#senders.push(sender);
    if (waiting === 1) setImmediate(this.#sendAfterRead);
    else if (waiting >= bounds.turnSendsMax) sendAll(this.#take());
  }

  readonly #sendAfterRead = (): void => {
    const senders = this.#take();
    if (senders.length > 0) setImmediate(sendAll, senders);
  };

  #take(): readonly Connection[] {
    const senders = this.#senders;
    this.#senders = [];
    return senders;
  }
}

function sendAll(senders: readonly Connection[]): void {
  for (const sender of senders) sender.send();
}

/** Resolves after the next read of all sockets. The runtime reads them between two immediate callbacks. */
export function socketsRead(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
