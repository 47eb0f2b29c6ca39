import type { Socket } from "bun";
import type { CallerMemory } from "#core/index.ts";
import { FieldHeaders, fieldOf, type MalformedMessage, type RequestHead } from "#http1/index.ts";
import type { Clock } from "#ports/index.ts";
import { answerHead, expectsContinue, linesOf, type ServerAnswer } from "./answer.ts";
import { type AnswerCall, CallExchange } from "./call-exchange.ts";
import type { CallerConnections, ConnectionClosing, ConnectionPlace } from "./caller-connections.ts";
import type { ConnectionHost, ServerExchange } from "./exchange.ts";
import { type HandshakeProblem, Handshakes } from "./handshakes.ts";
import { ServerConnection } from "./server-connection.ts";

/** A caller's TLS, until it is agreed upon. */
const callerHandshakeMs = 20_000;
/** How often time-outs of callers' connections are looked at. */
const wheelTurnMs = 1_000;

/** Why a request is refused before it is answered. */
export type RefusedReason = MalformedMessage["reason"] | "late" | "expectation" | "full";

export interface HttpServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Others may have the port open too. */
  readonly shared: boolean;
  /** The port speaks TLS with this certificate and key, both PEM; left out: plain HTTP. */
  readonly certificate?: { readonly chain: string; readonly key: string };
  /** A caller with whom TLS was not agreed upon. */
  readonly onHandshakeProblem?: HandshakeProblem;
  readonly clock: Clock;
  readonly connections: CallerConnections;
  /** A connection for which there was no room. */
  readonly onTurnedAway?: (address: string) => void;
  /** For what callers have not read yet. */
  readonly memory: CallerMemory;
  /** How long a connection may be silent between requests, and how long a head may take. */
  readonly idleMs: number;
  readonly answer: AnswerCall;
  /** The answer to what is no request. Its body is whole. */
  readonly refuse: (reason: RefusedReason, message: string) => ServerAnswer;
  /** Where the runtime's server takes WebSockets. */
  readonly socketPath: string;
  /** True: every answer is the last of its connection. */
  readonly leaving: () => boolean;
}

/**
 * TLS 1.2 and 1.3 are the runtime's own choice. Whoever offers HTTP/2 too is told to speak HTTP/1.1; whoever offers nothing
 * that is spoken here is refused (RFC 7301, 3.2).
 */
function tlsOf({ chain, key }: { readonly chain: string; readonly key: string }): Bun.TLSOptions {
  return { cert: chain, key, ALPNProtocols: Buffer.from("\x08http/1.1\x08http/1.0", "latin1") };
}

export class HttpServer implements ConnectionHost<ServerConnection> {
  readonly idleMs: number;
  readonly turnMs: number;
  readonly memory: CallerMemory;
  readonly secure: boolean;
  readonly #options: HttpServerOptions;
  readonly #handshakes: Handshakes<ServerConnection>;
  readonly #connections = new Set<ServerConnection>();
  readonly #listener: Bun.TCPSocketListener<ServerConnection>;
  /** Turns of the wheel: what time-outs are counted in, so that no request reads a clock for them. */
  #turn = 0;
  #stopWheel: (() => void) | null = null;
  readonly #unflushed = new Set<ServerConnection>();
  #flushing = false;
  #left = false;
  readonly #ended = Promise.withResolvers<void>();
  #dateText = "";
  #dateTurn = -1;

  /** Throws what the system says when the port cannot be had. */
  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.idleMs = options.idleMs;
    this.memory = options.memory;
    this.secure = options.certificate !== undefined;
    this.#handshakes = new Handshakes(options.onHandshakeProblem ?? (() => {}));
    this.turnMs = Math.min(wheelTurnMs, options.idleMs / 4);
    // The runtime's types know `reusePort` of other sockets only.
    const address: { hostname: string; port: number } & { reusePort: boolean } = {
      hostname: options.hostname,
      port: options.port,
      reusePort: options.shared,
    };
    this.#listener = Bun.listen<ServerConnection>({
      ...address,
      // Who sends no more may still read.
      allowHalfOpen: true,
      ...(options.certificate === undefined ? {} : { tls: tlsOf(options.certificate) }),
      socket: {
        open: (socket) => {
          const place = options.connections.enter(socket.remoteAddress ?? "");
          if (place === null) {
            this.#turnAway(socket);
            return;
          }
          socket.setNoDelay(true);
          const dueAt = this.after(Math.min(this.idleMs, callerHandshakeMs));
          if (this.secure) this.#handshakes.begin(socket, place, dueAt);
          else this.#begin(socket, place);
          this.#rollOn();
        },
        handshake: (socket, agreed, thrown) => {
          if (!agreed) this.#handshakes.failed(socket, thrown);
          else {
            const place = this.#handshakes.done(socket);
            if (place !== null) this.#begin(socket, place);
          }
        },
        data: (socket, bytes) => socket.data?.take(bytes),
        drain: (socket) => socket.data?.drained(),
        end: (socket) => socket.data?.callerEnded(),
        close: (socket) => {
          this.#handshakes.failed(socket, null);
          socket.data?.closed();
        },
        error: (socket) => socket.data?.cut(),
      },
    });
  }

  get port(): number {
    return this.#listener.port;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Those on which nothing of a request has come. */
  get idle(): number {
    return this.#count("idle");
  }

  /** Requests that are being answered, streams and those that were passed on included; not what became a WebSocket. */
  get pending(): number {
    return this.#count("answering");
  }

  /** Connections that speak another protocol. */
  get upgraded(): number {
    return this.#count("raw");
  }

  #count(phase: ServerConnection["phase"]): number {
    let count = 0;
    for (const connection of this.#connections) if (connection.phase === phase) count++;
    return count;
  }

  /** The port is closed, and connections on which nothing is under way; the others with their answer. */
  leave(): void {
    this.#left = true;
    this.#listener.stop(false);
    this.#handshakes.cut();
    for (const connection of [...this.#connections]) connection.leave();
  }

  /** Resolves once it was left and the last connection has ended. */
  get ended(): Promise<void> {
    if (this.#left && this.#connections.size === 0) this.#ended.resolve();
    return this.#ended.promise;
  }

  stop(now: boolean): void {
    this.leave();
    if (now) for (const connection of [...this.#connections]) connection.cut();
    this.#stopWheel?.();
    this.#stopWheel = null;
    if (!now) this.#rollOn();
  }

  open(connection: ServerConnection, received: RequestHead): ServerExchange {
    const head = originForm(received);
    const { answer, socketPath } = this.#options;
    if (expectsContinue(fieldOf(head.fields, "expect")) === null) {
      // It is unknown whether the caller sends its body anyway.
      connection.leave();
      return this.#refusing(connection, head, "expectation", "The expectation cannot be met; 100-continue can.");
    }
    return new CallExchange(connection, head, answer, socketPath);
  }

  refuse(connection: ServerConnection, { reason, message }: MalformedMessage): void {
    this.#answerRefusal(connection, this.#options.refuse(reason, message));
  }

  refuseLate(connection: ServerConnection): void {
    const message = "The head of the request did not arrive in time.";
    this.#answerRefusal(connection, this.#options.refuse("late", message));
  }

  closing(cause: ConnectionClosing): void {
    this.#options.connections.closings[cause]++;
  }

  after(ms: number): number {
    return this.#turn + Math.ceil(ms / this.turnMs) + 1;
  }

  date(): string {
    if (this.#dateTurn !== this.#turn) {
      this.#dateTurn = this.#turn;
      this.#dateText = new Date(this.#options.clock.now()).toUTCString();
    }
    return this.#dateText;
  }

  leaving(): boolean {
    return this.#left || this.#options.leaving();
  }

  flushSoon(connection: ServerConnection): void {
    this.#unflushed.add(connection);
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(() => {
      this.#flushing = false;
      const all = [...this.#unflushed];
      this.#unflushed.clear();
      for (const one of all) one.flush();
    });
  }

  forget(connection: ServerConnection): void {
    this.#connections.delete(connection);
    this.#unflushed.delete(connection);
    if (this.#left && this.#connections.size === 0) this.#ended.resolve();
  }

  /** The request is not read, so the dialect of its caller is not known. With TLS no answer can be sent. */
  #turnAway(socket: Socket<ServerConnection>): void {
    this.#options.onTurnedAway?.(socket.remoteAddress ?? "");
    if (this.secure) {
      socket.terminate();
      return;
    }
    const { status, headers, body } = this.#options.refuse("full", "The gateway has too many connections; try again.");
    const bytes = body instanceof Uint8Array ? body : nothing;
    const lines = linesOf(headers);
    const head = answerHead({ status, lines, framing: bytes.length, last: true, minor: 1, date: this.date() });
    socket.end(Buffer.concat([Buffer.from(head, "latin1"), bytes]));
  }

  #begin(socket: Socket<ServerConnection>, place: ConnectionPlace): void {
    const connection = new ServerConnection(this, socket, place);
    socket.data = connection;
    this.#connections.add(connection);
  }

  /** What could be read, and is answered all the same. */
  #refusing(connection: ServerConnection, head: RequestHead, reason: RefusedReason, message: string): CallExchange {
    const { refuse, socketPath } = this.#options;
    return new CallExchange(connection, head, (_request, reply) => reply.send(refuse(reason, message)), socketPath);
  }

  #answerRefusal(connection: ServerConnection, { status, headers, body }: ServerAnswer): void {
    connection.answerWhole(status, linesOf(headers), body instanceof Uint8Array ? body : nothing);
  }

  /** It turns for as long as there are connections. */
  #rollOn(): void {
    if (this.#stopWheel !== null || this.#connections.size + this.#handshakes.size === 0) return;
    // It may have stood still for long.
    this.#dateTurn = -1;
    this.#stopWheel = this.#options.clock.after(this.turnMs, () => {
      this.#stopWheel = null;
      this.#turn++;
      this.#handshakes.tick(this.#turn);
      for (const connection of this.#connections) connection.tick(this.#turn);
      this.#rollOn();
    });
  }
}

const nothing = new Uint8Array(0);

/**
 * The same request by its path, where its target is a whole address: the authority in it counts, and not what `host` says
 * (RFC 9112, 3.2.2).
 */
function originForm(head: RequestHead): RequestHead {
  if (head.target.startsWith("/")) return head;
  const [, authority, rest = ""] = /^https?:\/\/([^/?]+)(.*)$/i.exec(head.target) ?? [];
  if (authority === undefined) return head;
  const fields = head.fields.map((text, index, all) =>
    index % 2 === 1 && all[index - 1] === "host" ? authority : text,
  );
  return { ...head, target: rest.startsWith("/") ? rest : `/${rest}`, fields, headers: new FieldHeaders(fields) };
}
