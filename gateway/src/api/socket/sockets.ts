import {
  bounds,
  type CallerMemory,
  Failure,
  type HeaderReader,
  type HeldMemory,
  type MemoryOwner,
} from "#core/index.ts";
import { type Guarded, type MessageGuard, type ServerAnswer, SocketUpgrades } from "#http-server/index.ts";
import type { Clock } from "#ports/index.ts";

/** Bytes that the runtime holds for a slow reader; a socket with more is closed. */
const socketUnsentBytesMax = 32 * 1024 * 1024;
/** After this silence the runtime sends a ping, and closes a socket that does not answer. Seconds. */
const socketSilenceSeconds = 120;

/** Receives the events of an open WebSocket. */
export interface SocketSession {
  onText(text: string): void;
  onBinary(): void;
  /** The reader has caught up: frames can be sent again. */
  onRoom(): void;
  onClose(): void;
  /** A message was refused and no more are read: closes the socket after the responses under way. */
  refuse(failure: Failure): void;
  /** The gateway is shutting down: starts no response, and closes the socket after those under way. */
  leave(): void;
  /** Requests that are being answered or waiting. */
  readonly pending: number;
}

export type WebSocketLink = Pick<Bun.ServerWebSocket, "send" | "close" | "terminate">;

interface SocketOptions {
  readonly owner: MemoryOwner;
  /** Sent with the answer to the handshake. */
  readonly headers: Readonly<Record<string, string>>;
  readonly open: (socket: WebSocketLink) => SocketSession;
}

interface SocketData extends SocketOptions {
  readonly tunnel: Guarded;
  /** Set while the socket is open. */
  opened: { readonly session: SocketSession; readonly messages: IncomingMessages } | null;
}

/** The WebSockets of a port. The runtime's server, behind our own, speaks their protocol: it sends and answers pings. */
export class Sockets {
  readonly #upgrades = new SocketUpgrades<SocketData>();
  readonly #server: Bun.Server<SocketData>;
  readonly #sessions = new Set<SocketSession>();
  /** From the handshake until the connection has ended, so that simultaneous handshakes cannot exceed a limit. */
  readonly #sockets = new Set<SocketOptions>();

  constructor(dependencies: { readonly memory: CallerMemory; readonly clock: Clock }) {
    this.#server = Bun.serve<SocketData>({
      unix: this.path,
      development: false,
      maxRequestBodySize: 1,
      fetch: (request, server) => {
        const data = this.#upgrades.take(request);
        if (data !== null && server.upgrade(request, { headers: data.headers, data })) return undefined;
        return new Response(null, { status: 403 });
      },
      websocket: this.#handlers(dependencies),
    });
  }

  /** The address of the runtime's server, which accepts only connections from our own server. */
  get path(): string {
    return this.#upgrades.path;
  }

  /** WebSockets that are open or opening. */
  get size(): number {
    return this.#sockets.size;
  }

  get pending(): number {
    return [...this.#sessions].reduce((sum, session) => sum + session.pending, 0);
  }

  /** WebSockets of one key or workspace that are open or opening, by its id. */
  sizeOf(id: string): number {
    return [...this.#sockets].filter(({ owner: { key, workspace } }) => key.id === id || workspace.id === id).length;
  }

  /** The answer to a handshake. `onEnd` is called when the connection has ended. */
  upgrade(handshake: HeaderReader, options: SocketOptions, onEnd: () => void): ServerAnswer {
    this.#sockets.add(options);
    return this.#upgrades.answer(
      handshake,
      (tunnel) => ({ ...options, tunnel, opened: null }),
      () => {
        this.#sockets.delete(options);
        onEnd();
      },
    );
  }

  leave(): void {
    for (const session of [...this.#sessions]) session.leave();
  }

  stop(now: boolean): Promise<void> {
    return this.#server.stop(now);
  }

  #handlers({ memory, clock }: { readonly memory: CallerMemory; readonly clock: Clock }) {
    return {
      maxPayloadLength: bounds.socketFrameReadBytesMax,
      backpressureLimit: socketUnsentBytesMax,
      closeOnBackpressureLimit: true,
      idleTimeout: socketSilenceSeconds,
      sendPings: true,
      // A compressed frame could be a thousand times larger than it looks.
      perMessageDeflate: false,
      open: (socket) => {
        const { owner, open, tunnel } = socket.data;
        const session = open(socket);
        const messages = new IncomingMessages(memory.open(owner, "frame"), clock, (failure) => session.refuse(failure));
        socket.data.opened = { session, messages };
        this.#sessions.add(session);
        tunnel.guard(messages);
      },
      message: ({ data: { opened } }, message) => {
        if (typeof message === "string") opened?.session.onText(message);
        else opened?.session.onBinary();
        opened?.messages.read();
      },
      // Called for each part that was sent. Without the condition, new frames could add up to the limit.
      drain: (socket) => {
        if (socket.getBufferedAmount() <= socketUnsentBytesMax / 4) socket.data.opened?.session.onRoom();
      },
      close: ({ data }) => {
        const { opened } = data;
        if (opened === null) return;
        data.opened = null;
        this.#sessions.delete(opened.session);
        opened.messages.close();
        opened.session.onClose();
      },
    } satisfies Bun.WebSocketHandler<SocketData>;
  }
}

/** From the first byte of a message to its last. */
const socketMessageMs = 60_000;

/** Bounds the messages of one WebSocket in memory and time, from the first frame head until the session has the message. */
class IncomingMessages implements MessageGuard {
  readonly #held: HeldMemory;
  readonly #clock: Pick<Clock, "after">;
  /** Called once. */
  readonly #onRefuse: (failure: Failure) => void;
  /** Sizes of the messages that have arrived and are not read yet, oldest first. */
  readonly #whole: number[] = [];
  #wholeBytes = 0;
  #stopDeadline: (() => void) | null = null;
  #arriving = 0;
  #over = false;

  constructor(held: HeldMemory, clock: Pick<Clock, "after">, onRefuse: (failure: Failure) => void) {
    this.#held = held;
    this.#clock = clock;
    this.#onRefuse = onRefuse;
  }

  get over(): boolean {
    return this.#over;
  }

  grows(bytes: number): boolean {
    if (this.#over) return false;
    this.#arriving = bytes;
    try {
      this.#held.hold(this.#wholeBytes + bytes);
    } catch (thrown) {
      this.#refuse(thrown as Failure);
      return false;
    }
    this.#stopDeadline ??= this.#clock.after(socketMessageMs, () =>
      this.#refuse(late(`did not arrive within ${socketMessageMs / 1_000} seconds`)),
    );
    return true;
  }

  ends(): void {
    this.#stop();
    this.#whole.push(this.#arriving);
    this.#wholeBytes += this.#arriving;
    this.#arriving = 0;
  }

  slow(): void {
    if (!this.#over) this.#refuse(late("arrived too slowly"));
  }

  /** The session has read the oldest message. */
  read(): void {
    this.#wholeBytes -= this.#whole.shift() ?? 0;
    if (!this.#over) this.#held.keep(this.#wholeBytes + this.#arriving);
  }

  close(): void {
    this.#over = true;
    this.#stop();
    this.#held.release();
  }

  #refuse(failure: Failure): void {
    this.close();
    this.#onRefuse(failure);
  }

  #stop(): void {
    this.#stopDeadline?.();
    this.#stopDeadline = null;
  }
}

function late(problem: string): Failure {
  return new Failure("request_timeout", `The message ${problem}.`);
}
