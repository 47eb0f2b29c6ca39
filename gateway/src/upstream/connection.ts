import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import { MalformedMessage, type MessageSink, type ResponseHead, ResponseReader } from "#http1/index.ts";
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

const nothing = new Uint8Array(0);
const copiedBodyBytesMax = 16 * 1024;
/** Reused for requests that the socket takes at once, as it mostly does. */
const scratch = Buffer.allocUnsafe(32 * 1024);

/** A connection to one address of an upstream, used for one request at a time. Never throws. */
export class Connection {
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
  #unsent: Uint8Array = nothing;
  /** A whole request to send at the end of this turn; "": none. */
  #head = "";
  #body: Uint8Array = nothing;
  #user: ConnectionUser | null;
  #socket: Socket | null = null;
  #reader: ResponseReader;
  #reusable = false;
  /** The answer is complete, and `onEnd` was not called yet. */
  #whole = false;
  #paused = false;
  #over = false;

  private constructor(target: Target, user: ConnectionUser) {
    this.target = target;
    this.#user = user;
    this.#reader = new ResponseReader(
      { headBytesMax: bounds.upstreamHeadBytesMax, fieldsMax: bounds.upstreamFieldsMax },
      {
        onHead: (head) => {
          this.#reusable = head.persistent;
          this.#user?.onHead(head);
        },
        onBody: (piece) => this.#user?.onBody(piece),
        onEnd: () => {
          this.#whole = true;
        },
      },
    );
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
    if (this.#unsent.length > 0) {
      this.#unsent = Buffer.concat([this.#unsent, bytes]);
      return false;
    }
    this.#unsent = bytes;
    this.#send();
    return this.#unsent.length === 0;
  }

  /** Sends a whole request: a short one at the end of this turn, with `onDrain` after it. Returns false if not all bytes were sent yet. */
  writeWhole(head: string, body: Uint8Array, sends: TurnSends): boolean {
    if (body.length > copiedBodyBytesMax) {
      this.write(Buffer.from(head, "latin1"));
      return this.write(body);
    }
    if (this.#over) return false;
    this.#head = head;
    this.#body = body;
    sends.add(this);
    return false;
  }

  /** Writes as much as the socket takes. */
  send(): void {
    if (this.#over) return;
    if (this.#head !== "") this.#sendWhole();
    else if (this.#unsent.length > 0) this.#send();
    else return;
    if (this.#unsent.length === 0) this.#user?.onDrain();
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
    const good = this.#reusable && sent && this.#unsent.length === 0 && this.#head === "" && !this.#over;
    if (!good) this.destroy();
    else this.resume();
    return good;
  }

  /** Closes it at once, without callbacks. */
  destroy(): void {
    this.#user = null;
    this.onIdleEnd = null;
    this.#over = true;
    this.#drop();
    this.#socket?.terminate();
  }

  #dial(route: Dialing): void {
    const asked = route.way?.connect ?? null;
    this.asksProxy = route.way !== null;
    const dialled = asked === null ? this.#straight(route) : this.#throughProxy(route.tls ?? {}, asked);
    // Rejects with the error that `connectError` gets.
    dialled.catch((thrown: unknown) => this.#ended(thrown));
  }

  #straight({ tls }: Dialing): Promise<Socket> {
    const { address, port } = this.target;
    const plain = tls === undefined;
    return Bun.connect({
      hostname: address,
      port,
      ...(plain ? {} : { tls }),
      socket: {
        ...this.#events(),
        open: (socket: Socket) => {
          this.#socket = socket;
          if (this.#over) socket.terminate();
          else if (plain) this.#opened();
        },
      },
    });
  }

  /** Asks the proxy in plain text; the upstream's certificate is checked inside the tunnel. */
  #throughProxy(tls: BunFetchRequestInitTLS, asked: string): Promise<Socket> {
    const { address, port } = this.target;
    const answer = new ConnectAnswer();
    const secure = {
      ...this.#events(),
      open: (socket: Socket) => {
        this.#socket = socket;
        if (this.#over) socket.terminate();
      },
    };
    const whileAsking = (thrown?: Error): void => {
      if (this.asksProxy) this.#ended(thrown);
    };
    return Bun.connect({
      hostname: address,
      port,
      socket: {
        open: (socket: Socket) => {
          this.#socket = socket;
          if (this.#over) socket.terminate();
          else this.write(Buffer.from(asked, "latin1"));
        },
        data: (socket: Socket, bytes: Buffer) => {
          // Encrypted bytes after the answer reach both handlers.
          if (this.#over || !this.asksProxy) return;
          try {
            if (!answer.push(bytes)) return;
            this.asksProxy = false;
            socket.upgradeTLS({ tls, socket: secure });
          } catch (thrown) {
            this.#unusable(thrown);
          }
        },
        drain: () => {
          if (this.asksProxy) this.send();
        },
        end: () => whileAsking(),
        close: (_socket: Socket, thrown?: Error) => whileAsking(thrown),
        error: (_socket: Socket, thrown: Error) => whileAsking(thrown),
        connectError: (_socket: Socket, thrown: Error) => this.#ended(thrown),
      },
    });
  }

  #events() {
    return {
      handshake: (_socket: Socket, _done: boolean, refused: Error | null) => {
        if (refused === null || refused === undefined) this.#opened();
        else this.#unusable(refused);
      },
      data: (_socket: Socket, bytes: Buffer) => this.#take(bytes),
      drain: () => this.send(),
      end: () => this.#closed(),
      close: (_socket: Socket, thrown?: Error) => this.#ended(thrown),
      error: (_socket: Socket, thrown: Error) => this.#ended(thrown),
      connectError: (_socket: Socket, thrown: Error) => this.#ended(thrown),
    };
  }

  #sendWhole(): void {
    const length = this.#head.length + this.#body.length;
    const bytes = length <= scratch.length ? scratch : Buffer.allocUnsafe(length);
    bytes.set(this.#body, bytes.write(this.#head, 0, "latin1"));
    this.#head = "";
    this.#body = nothing;
    const sent = Math.max(0, this.#socket?.write(bytes, 0, length) ?? 0);
    if (sent > 0) this.wrote = true;
    this.#unsent = sent === length ? nothing : Buffer.from(bytes.subarray(sent, length));
  }

  #send(): void {
    const sent = Math.max(0, this.#socket?.write(this.#unsent) ?? 0);
    if (sent > 0) this.wrote = true;
    this.#unsent = sent === this.#unsent.length ? nothing : this.#unsent.subarray(sent);
  }

  #drop(): void {
    this.#head = "";
    this.#body = nothing;
    this.#unsent = nothing;
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
    this.#drop();
    this.#user = null;
    const onIdleEnd = this.onIdleEnd;
    this.onIdleEnd = null;
    if (user === null) onIdleEnd?.(this);
    else user.onBroken(thrown);
  }
}

/** Sends the requests of one turn of the event loop together at its end: an upstream on this machine wakes once for all of them. */
export class TurnSends {
  #senders: Connection[] = [];

  add(sender: Connection): void {
    const waiting = this.#senders.push(sender);
    if (waiting === 1) setImmediate(this.#sendAll);
    else if (waiting >= bounds.turnSendsMax) this.#sendAll();
  }

  readonly #sendAll = (): void => {
    const senders = this.#senders;
    this.#senders = [];
    for (const sender of senders) sender.send();
  };
}
