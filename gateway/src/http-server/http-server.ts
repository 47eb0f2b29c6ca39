import type { Socket } from "bun";
import type { CallerMemory } from "#core/index.ts";
import type { MalformedMessage, RequestHead } from "#http1/index.ts";
import type { Clock } from "#ports/index.ts";
import { answerHead, commonLines, expectsContinue, linesOf, type ServerAnswer } from "./answer.ts";
import { type AnswerCall, CallExchange } from "./call-exchange.ts";
import type { CallerConnections, ConnectionClosing } from "./caller-connections.ts";
import { type ConnectionHost, ServerConnection, type ServerExchange } from "./server-connection.ts";

/** How often timeouts of connections are checked. */
const tickMs = 1_000;

/** Why a request is refused before it is answered. */
export type RefusedReason = MalformedMessage["reason"] | "late" | "expectation" | "full";

export interface HttpServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Whether other processes may open the port too. */
  readonly shared: boolean;
  /** PEM; absent: plain HTTP. */
  readonly certificate?: { readonly chain: string; readonly key: string };
  /** Called for a failed TLS handshake. `problem`: `late`, `gone`, or the TLS library's code. */
  readonly onHandshakeProblem?: (problem: string, address: string) => void;
  readonly clock: Clock;
  readonly connections: CallerConnections;
  /** Called for a connection that was refused because there are too many. */
  readonly onTurnedAway?: (address: string) => void;
  /** Accounts for bytes that callers have not read. */
  readonly memory: CallerMemory;
  /** How long a connection may be idle, and how long a head may take. */
  readonly idleMs: number;
  readonly answer: AnswerCall;
  /** The answer to a malformed or refused request, with its body in memory. */
  readonly refuse: (reason: RefusedReason, message: string) => ServerAnswer;
  /** Whether every answer closes its connection. */
  readonly leaving: () => boolean;
  /** Called before bytes are written to a caller; absent: nothing. Must not throw. */
  readonly beforeWriting?: () => void;
}

/**
 * The runtime allows TLS 1.2 and 1.3. Clients that also offer HTTP/2 get HTTP/1.1; clients that offer no supported protocol are
 * refused (RFC 7301, 3.2).
 */
function tlsOf({ chain, key }: { readonly chain: string; readonly key: string }): Bun.TLSOptions {
  return { cert: chain, key, ALPNProtocols: Buffer.from("\x08http/1.1\x08http/1.0", "latin1") };
}

export class HttpServer implements ConnectionHost {
  readonly idleMs: number;
  readonly turnMs: number;
  readonly memory: CallerMemory;
  readonly secure: boolean;
  readonly beforeWriting: () => void;
  readonly #options: HttpServerOptions;
  readonly #connections = new Set<ServerConnection>();
  readonly #listener: Bun.TCPSocketListener<ServerConnection>;
  /** Timeouts are counted in ticks, so that no request reads a clock for them. */
  #tick = 0;
  #stopTicking: (() => void) | null = null;
  /** Connections to flush at the end of this turn. */
  #unflushed: ServerConnection[] = [];
  #left = false;
  readonly #ended = Promise.withResolvers<void>();
  #lines = "";
  #linesTick = -1;

  /** Throws the system's error if the port cannot be opened. */
  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.idleMs = options.idleMs;
    this.memory = options.memory;
    this.secure = options.certificate !== undefined;
    this.beforeWriting = options.beforeWriting ?? (() => {});
    this.turnMs = Math.min(tickMs, options.idleMs / 4);
    // The runtime's types lack `reusePort` for this kind of socket.
    const address: { hostname: string; port: number } & { reusePort: boolean } = {
      hostname: options.hostname,
      port: options.port,
      reusePort: options.shared,
    };
    this.#listener = Bun.listen<ServerConnection>({
      ...address,
      // A caller that closed its side may still read.
      allowHalfOpen: true,
      ...(options.certificate === undefined ? {} : { tls: tlsOf(options.certificate) }),
      socket: {
        open: (socket) => this.#begin(socket),
        handshake: ({ data }, agreed, thrown) => data.handshakeEnded(agreed, thrown),
        data: ({ data }, bytes) => data.take(bytes),
        drain: ({ data }) => data.drained(),
        end: ({ data }) => data.callerEnded(),
        close: ({ data }) => data.closed(),
        error: ({ data }) => {
          // After a failed handshake, `handshake` or `close` follows.
          if (data.phase !== "handshake") data.cut();
        },
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  /** Except for those in a TLS handshake. */
  get connections(): number {
    return this.#connections.size - this.#count("handshake");
  }

  /** Connections on which no byte of a request has arrived. */
  get idle(): number {
    return this.#count("idle");
  }

  /** Requests that are being answered, including streams, except for WebSockets. */
  get pending(): number {
    return this.#count("answering");
  }

  #count(phase: ServerConnection["phase"]): number {
    let count = 0;
    for (const connection of this.#connections) if (connection.phase === phase) count++;
    return count;
  }

  /** Closes the port and idle connections. Other connections close after their answer. */
  leave(): void {
    this.#left = true;
    this.#listener.stop(false);
    for (const connection of [...this.#connections]) connection.leave();
  }

  /** Resolves once `leave` was called and the last connection has ended. */
  get ended(): Promise<void> {
    if (this.#left && this.#connections.size === 0) this.#ended.resolve();
    return this.#ended.promise;
  }

  stop(now: boolean): void {
    this.leave();
    if (now) for (const connection of [...this.#connections]) connection.cut();
    this.#stopTicking?.();
    this.#stopTicking = null;
    if (!now) this.#tickLater();
  }

  open(connection: ServerConnection, received: RequestHead): ServerExchange {
    const head = originForm(received);
    if (expectsContinue(head) !== null) return new CallExchange(connection, head, this.#options.answer);
    // It is unknown whether the caller sends its body anyway.
    connection.leave();
    const refusal = this.refusal("expectation", "The expectation cannot be met; 100-continue can.");
    return new CallExchange(connection, head, (_request, reply) => reply.send(refusal));
  }

  refusal(reason: RefusedReason, message: string): ServerAnswer {
    return this.#options.refuse(reason, message);
  }

  handshakeFailed(problem: string, address: string): void {
    this.#options.onHandshakeProblem?.(problem, address);
  }

  closing(cause: ConnectionClosing): void {
    this.#options.connections.closings[cause]++;
  }

  after(ms: number): number {
    return this.#tick + Math.ceil(ms / this.turnMs) + 1;
  }

  commonLines(): string {
    if (this.#linesTick !== this.#tick) {
      this.#linesTick = this.#tick;
      this.#lines = commonLines(this.#options.clock.now());
    }
    return this.#lines;
  }

  leaving(): boolean {
    return this.#left || this.#options.leaving();
  }

  flushSoon(connection: ServerConnection): void {
    if (this.#unflushed.push(connection) === 1) setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    const all = this.#unflushed;
    this.#unflushed = [];
    for (const one of all) one.flush();
  };

  forget(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.#options.connections.release(connection);
    if (this.#left && this.#connections.size === 0) this.#ended.resolve();
  }

  #begin(socket: Socket<ServerConnection>): void {
    const connection = new ServerConnection(this, socket);
    socket.data = connection;
    if (!this.#options.connections.enter(connection)) {
      this.#refuseConnection(socket, connection);
      return;
    }
    socket.setNoDelay(true);
    this.#connections.add(connection);
    this.#tickLater();
  }

  /** The request is not read, so the dialect of its caller is unknown. With TLS no answer can be sent. */
  #refuseConnection(socket: Socket<ServerConnection>, connection: ServerConnection): void {
    this.#options.onTurnedAway?.(connection.address);
    connection.closed(null);
    if (this.secure) {
      socket.terminate();
      return;
    }
    const { status, headers, body } = this.refusal("full", "The gateway has too many connections; try again.");
    const bytes = body instanceof Uint8Array ? body : Buffer.alloc(0);
    const common = this.commonLines();
    const head = { status, lines: linesOf(headers), common, framing: bytes.length, last: true, minor: 1 } as const;
    socket.end(Buffer.concat([Buffer.from(answerHead(head).join(""), "latin1"), bytes]));
  }

  /** Ticks while there are connections. */
  #tickLater(): void {
    if (this.#stopTicking !== null || this.#connections.size === 0) return;
    // The ticks may have stopped long ago.
    this.#linesTick = -1;
    this.#stopTicking = this.#options.clock.after(this.turnMs, () => {
      this.#stopTicking = null;
      this.#tick++;
      for (const connection of this.#connections) connection.tick(this.#tick);
      this.#tickLater();
    });
  }
}

/**
 * A request with an absolute URL as its target gets the path as its target, and the authority of the URL in place of its `host`
 * (RFC 9112, 3.2.2).
 */
function originForm(head: RequestHead): RequestHead {
  if (head.target.startsWith("/")) return head;
  const [, authority, rest = ""] = /^https?:\/\/([^/?]+)(.*)$/i.exec(head.target) ?? [];
  if (authority === undefined) return head;
  return { ...head, target: rest.startsWith("/") ? rest : `/${rest}`, headers: head.headers.with("host", authority) };
}
