import type { Socket } from "bun";
import { bounds } from "#core/index.ts";
import { MalformedMessage, type MessageSink, type ResponseHead, ResponseReader } from "#http1/index.ts";
import { ConnectAnswer } from "./proxy-way.ts";
import type { Route, Target } from "./route-table.ts";

/** Who uses a connection for one exchange of messages. After `onEnd` or `onBroken` nothing more is told. */
export interface ConnectionUser extends MessageSink<ResponseHead> {
  /** It stands: what is written now is sent. */
  onReady(connection: Connection): void;
  /** What came at once has been passed on. */
  onRead(): void;
  /** All that was written has left this process. */
  onDrain(): void;
  /** Before `onEnd`. `thrown`: of the socket, of the handshake, or what the upstream sent was not HTTP; undefined: it was closed. */
  onBroken(thrown: unknown): void;
}

const nothing = new Uint8Array(0);
const copiedBodyBytesMax = 16 * 1024;
/** For a request that leaves at once: mostly the socket takes all of it, and nothing was allocated. */
const scratch = Buffer.allocUnsafe(32 * 1024);

/** A connection to one address of an upstream, used for one request after the other. Never throws. */
export class Connection {
  readonly target: Target;
  /** Set once it stands. */
  ready = false;
  /** A proxy has been dialled and has not opened a way to the upstream yet. */
  asksProxy = false;
  /** For the pool: when its last request had ended, of the monotonic clock. */
  idleSinceMs = 0;
  /** How many requests it has carried, with the one that is on its way. */
  uses = 0;
  /** Something of the request that it carries may have left. */
  wrote = false;
  #unsent: Uint8Array = nothing;
  /** A whole request that leaves at the end of this turn; "": none. */
  #head = "";
  #body: Uint8Array = nothing;
  #user: ConnectionUser | null;
  #socket: Socket | null = null;
  #reader: ResponseReader;
  #reusable = false;
  /** The answer has come to its end, and its user has not been told yet. */
  #whole = false;
  #paused = false;
  #over = false;
  /** Told when it ends while nobody uses it. */
  #onIdleEnd: ((connection: Connection) => void) | null = null;

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

  /** Dials the address that was judged, and shows the name's certificate. The user is told of everything later, not in this call. */
  static open(route: Route, target: Target, user: ConnectionUser): Connection {
    const connection = new Connection(target, user);
    connection.#dial(route);
    return connection;
  }

  /** Nothing of an answer has come. */
  get untouched(): boolean {
    return this.#reader.silent;
  }

  /** The next request of somebody else. Only of a connection that `reusable` was said of. */
  use(user: ConnectionUser): void {
    this.#user = user;
    this.#onIdleEnd = null;
  }

  /** Before the first byte of a request. */
  begin(method: string): void {
    this.uses++;
    this.wrote = false;
    this.#reusable = false;
    this.#reader.begin(method);
  }

  /** False: not all of it has left; `onDrain` will be called. */
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

  /**
   * A whole request. With a short body it leaves with the others of this turn of the loop, and `onDrain` will be called; a longer
   * one is not copied for that. False: not all of it has left.
   */
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

  /** What waits is written, as far as the socket takes it. */
  send(): void {
    if (this.#over) return;
    if (this.#head !== "") this.#sendWhole();
    else if (this.#unsent.length > 0) this.#send();
    else return;
    if (this.#unsent.length === 0) this.#user?.onDrain();
  }

  /** What comes is left in the kernel, and slows the upstream. */
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

  /** The user is done. True: another may use it. `sent`: the whole request has left. */
  release(sent: boolean): boolean {
    this.#user = null;
    const good = this.#reusable && sent && this.#unsent.length === 0 && this.#head === "" && !this.#over;
    if (!good) this.destroy();
    else this.resume();
    return good;
  }

  whenIdleEnds(act: (connection: Connection) => void): void {
    this.#onIdleEnd = act;
  }

  /** Closes it at once; nobody is told. */
  destroy(): void {
    this.#user = null;
    this.#onIdleEnd = null;
    this.#over = true;
    this.#drop();
    this.#socket?.terminate();
  }

  #dial(route: Route): void {
    const asked = route.way?.connect ?? null;
    this.asksProxy = route.way !== null;
    const dialled = asked === null ? this.#straight(route) : this.#throughProxy(route.tls ?? {}, asked);
    // It rejects with what `connectError` was told.
    dialled.catch((thrown: unknown) => this.#ended(thrown));
  }

  #straight({ tls }: Route): Promise<Socket> {
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
          else if (plain) this.#stands();
        },
      },
    });
  }

  /** The proxy is asked in the clear; on the way that it opens, the upstream's certificate is judged as anywhere else. */
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
          // Behind the answer come encrypted bytes, which are told to both.
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
        if (refused === null || refused === undefined) this.#stands();
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
    bytes.write(this.#head, 0, "latin1");
    bytes.set(this.#body, this.#head.length);
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

  #stands(): void {
    if (this.#over) return;
    this.asksProxy = false;
    this.ready = true;
    this.#user?.onReady(this);
  }

  #take(bytes: Buffer): void {
    if (this.#over) return;
    // Nobody asked, or nobody has asked yet.
    if (this.#user === null || !this.wrote) {
      this.#unusable(new MalformedMessage("syntax", "It was not asked."));
      return;
    }
    try {
      const taken = this.#reader.push(bytes);
      // More than the answer: whose answer that is nobody can say.
      if (taken < bytes.length) this.#reusable = false;
      if (this.#whole) this.#tellEnd();
      else this.#user?.onRead();
    } catch (thrown) {
      this.#unusable(thrown);
    }
  }

  /** Once all that came with it has been looked at: the connection may be somebody else's within the call. */
  #tellEnd(): void {
    if (!this.#whole) return;
    this.#whole = false;
    this.#user?.onEnd();
  }

  /** The upstream has said that it sends no more. */
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

  /** However it ended: the first reason counts. */
  #ended(thrown: unknown): void {
    if (this.#over) return;
    const user = this.#user;
    this.#over = true;
    this.#drop();
    this.#user = null;
    const onIdleEnd = this.#onIdleEnd;
    this.#onIdleEnd = null;
    if (user === null) onIdleEnd?.(this);
    else user.onBroken(thrown);
  }
}

/**
 * What this turn of the event loop has to send to upstreams leaves at its end, one behind the other: an upstream on this machine
 * is woken once and finds the rest, and the code that sends is warm.
 */
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
