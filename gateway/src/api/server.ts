import { bounds, Failure, type FailureCode, type HeaderReader } from "#core/index.ts";
import {
  type CallerRequest,
  type Guarded,
  HttpServer,
  type RefusedReason,
  ServerAnswer,
  SocketUpgrades,
} from "#http-server/index.ts";
import { openaiChat } from "#protocols/index.ts";
import { type Arrival, answerArrival, asksForSocket, type ListenerRole } from "./answer-arrival.ts";
import { asResponse } from "./call-request.ts";
import { CallerAddress } from "./caller-address.ts";
import type { ApiDependencies, SocketOpening, UpgradeOptions } from "./dependencies.ts";
import { answerDirect } from "./direct-call.ts";
import { flawOfPath } from "./plain-target.ts";
import { targetOf } from "./request-parts.ts";
import { exactPaths } from "./routes.ts";
import { IncomingMessages } from "./socket/incoming-messages.ts";
import { type SocketLink, type SocketSession, SocketSessions } from "./socket/socket-link.ts";

/** Bytes that the runtime holds for a slow reader; a socket with more is closed. */
const socketUnsentBytesMax = 32 * 1024 * 1024;
/** After this silence the runtime sends a ping, and closes a socket that does not answer. Seconds. */
const socketSilenceSeconds = 120;

export interface ApiServer {
  readonly port: number;
  readonly sockets: () => number;
  /** Closes the port and idle connections. WebSockets end after the responses under way, other connections after their answer. */
  leave(): void;
  /** Ends only the WebSockets like this. */
  leaveSockets(): void;
  /** Requests being answered, streams included. */
  readonly pending: () => number;
  /** Another server takes over the port: connections end after their answers. */
  retire(): void;
  /** Closes the port and idle connections. Resolves when all other connections have ended, including WebSockets. */
  closePort(): Promise<void>;
  /** Closes the port; `now` also cuts open connections. */
  stop(now: boolean): Promise<void>;
}

/** A TLS certificate and its key, both PEM. */
export interface ServerCertificate {
  readonly chain: string;
  readonly key: string;
}

export interface ApiServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Everything is served by default. */
  readonly role?: ListenerRole;
  /** Addresses and ranges of proxies that may name the caller's address. */
  readonly trustedProxies?: readonly string[];
  /** How long a connection may be idle. */
  readonly idleSeconds?: number;
  /** Whether other processes may open the port too; the system then distributes new connections among them. */
  readonly shared?: boolean;
  /** Absent: plain HTTP. */
  readonly certificate?: ServerCertificate;
}

/** Shared by the parts of a port. */
interface Port {
  readonly dependencies: ApiDependencies;
  readonly role: ListenerRole;
  readonly callers: CallerAddress;
  readonly sessions: SocketSessions;
  readonly upgrades: SocketUpgrades<SocketData>;
}

/** Opens the port. Our own server answers requests, and the runtime's behind it speaks the protocol of WebSockets. */
export function serveApi(dependencies: ApiDependencies, options: ApiServerOptions): ApiServer {
  let retiring = false;
  const sessions = new SocketSessions();
  const port: Port = {
    dependencies,
    role: options.role ?? "all",
    callers: new CallerAddress(options.trustedProxies ?? [], dependencies.observer),
    sessions,
    upgrades: new SocketUpgrades<SocketData>(),
  };
  const inner = serveSockets(port);
  let server: HttpServer;
  try {
    server = serveOwn(port, options, () => retiring || dependencies.leaving());
  } catch (thrown) {
    void inner.stop(true);
    throw thrown;
  }
  return {
    port: server.port,
    // The last bytes of a closed session may still be on their way.
    sockets: () => Math.max(sessions.size, server.upgraded),
    leaveSockets: () => sessions.leave(),
    pending: () => server.pending + sessions.pending,
    leave() {
      sessions.leave();
      server.leave();
    },
    retire() {
      retiring = true;
    },
    async closePort() {
      server.leave();
      await server.ended;
      await inner.stop(false);
    },
    async stop(now) {
      server.stop(now);
      await inner.stop(now);
    },
  };
}

/** Our own server. `leaving`: connections are closed after their answers. */
function serveOwn(port: Port, options: ApiServerOptions, leaving: () => boolean): HttpServer {
  const { dependencies, callers } = port;
  const callerOf = ({ peer, headers }: CallerRequest): string => callers.of(peer, headers);
  return new HttpServer({
    hostname: options.hostname,
    port: options.port,
    shared: options.shared === true,
    clock: dependencies.clock,
    memory: dependencies.memory,
    connections: dependencies.connections,
    onTurnedAway: turnedAwayLog(dependencies),
    idleMs: options.idleSeconds === undefined ? bounds.idleConnectionMs : options.idleSeconds * 1_000,
    answer: (request, reply) => {
      if (port.role !== "console" && answerDirect(dependencies, callerOf, request, reply)) return;
      const { path, query } = targetOf(request.target);
      const arrival: Arrival = {
        request,
        path,
        query,
        startedMs: dependencies.clock.monotonic(),
        address: addressOf(callers, request.peer, request.headers),
        role: port.role,
        flaw: flawOf(request.target, path),
      };
      const openSocket = asksForSocket(request) ? { openSocket: socketOpening(port, arrival) } : {};
      answerArrival(dependencies, { ...arrival, ...openSocket }).then(
        (answer) => reply.send(answer),
        (thrown: unknown) => reply.fail(thrown),
      );
    },
    refuse: (reason, message) => refusal(dependencies, reason, message),
    socketPath: port.upgrades.path,
    leaving,
    ...(options.certificate === undefined ? {} : { certificate: options.certificate }),
    onHandshakeProblem: (problem, address) => {
      dependencies.handshakeProblem?.(problem);
      dependencies.observer.log("debug", "TLS handshake with a caller failed.", { problem, address });
    },
  });
}

/** Computed on first use. */
function addressOf(callers: CallerAddress, peer: string, headers: HeaderReader): () => string {
  let address: string | null = null;
  return () => {
    address ??= callers.of(peer, headers);
    return address;
  };
}

const plainPaths: ReadonlySet<string> = new Set(exactPaths);

function flawOf(target: string, path: string): string | null {
  if (target.includes("#")) return "There is a # in it.";
  return plainPaths.has(path) ? null : flawOfPath(path);
}

function refusal(dependencies: ApiDependencies, reason: RefusedReason, message: string): ServerAnswer {
  const requestId = dependencies.ids.next("req_");
  const headers = { "content-type": "application/json", "x-request-id": requestId };
  const text = openaiChat.renderError(new Failure(codes[reason] ?? "invalid_request", message), requestId);
  const answered = reason === "full" ? { ...headers, "retry-after": "1" } : headers;
  return new ServerAnswer(statuses[reason], answered, Buffer.from(text));
}

const statuses = {
  syntax: 400,
  framing: 400,
  head_too_large: 431,
  version: 505,
  late: 408,
  expectation: 417,
  full: 503,
} as const satisfies Record<RefusedReason, number>;

const codes: Partial<Record<RefusedReason, FailureCode>> = { late: "request_timeout", full: "overloaded" };

/** Logs at most once a minute, because a caller beyond the limit opens many connections. */
function turnedAwayLog({ clock, observer }: ApiDependencies): (address: string) => void {
  let nextMs = Number.NEGATIVE_INFINITY;
  return (address) => {
    const nowMs = clock.monotonic();
    if (nowMs < nextMs) return;
    nextMs = nowMs + 60_000;
    const message = "Refusing connections: there are too many, in total or from one address.";
    observer.log("warn", message, { address });
  };
}

/** The runtime's server for WebSockets. It accepts only connections from our own server. */
function serveSockets({ dependencies, sessions, upgrades }: Port): Bun.Server<SocketData> {
  return Bun.serve<SocketData>({
    unix: upgrades.path,
    development: false,
    maxRequestBodySize: 1,
    fetch: (request, server) => {
      const data = upgrades.take(request);
      if (data !== null && server.upgrade(request, { headers: data.headers, data })) return undefined;
      return new Response(null, { status: 403 });
    },
    websocket: socketHandlers(dependencies, sessions),
  });
}

function socketOpening({ dependencies, sessions, upgrades }: Port, arrival: Arrival): SocketOpening {
  return {
    open: sessions.size,
    openOf: (id) => sessions.sizeOf(id),
    upgrade: ({ onEnd, ...socket }) =>
      upgrades.answer(
        arrival.request.headers,
        (tunnel) => ({ ...socket, tunnel, session: null, messages: null }),
        onEnd,
      ),
    call: async (request) => {
      const startedMs = dependencies.clock.monotonic();
      return asResponse(await answerArrival(dependencies, { ...arrival, request, query: "", startedMs }));
    },
  };
}

/** The data of one WebSocket. */
interface SocketData extends Omit<UpgradeOptions, "onEnd"> {
  readonly tunnel: Guarded;
  /** null before it is open and after it has closed. */
  session: SocketSession | null;
  messages: IncomingMessages | null;
}

/** Passes the runtime's events to the sessions. The runtime sends and answers pings itself. */
function socketHandlers(
  { memory, clock }: Pick<ApiDependencies, "memory" | "clock">,
  sessions: SocketSessions,
): Bun.WebSocketHandler<SocketData> {
  return {
    maxPayloadLength: bounds.socketFrameReadBytesMax,
    backpressureLimit: socketUnsentBytesMax,
    closeOnBackpressureLimit: true,
    idleTimeout: socketSilenceSeconds,
    sendPings: true,
    // A compressed frame could be a thousand times larger than it looks.
    perMessageDeflate: false,
    open(socket) {
      const session = socket.data.open(linkOf(socket));
      socket.data.session = session;
      sessions.add(session, socket.data.owner);
      const held = memory.open(socket.data.owner, "frame");
      const messages = new IncomingMessages(held, clock, (failure) => session.refuse(failure));
      socket.data.messages = messages;
      socket.data.tunnel.guard(messages);
    },
    message({ data }, message) {
      if (typeof message === "string") data.session?.onText(message);
      else data.session?.onBinary();
      data.messages?.read();
    },
    // Called for each part that was sent. Without the condition, new frames could add up to the limit.
    drain(socket) {
      if (socket.getBufferedAmount() <= socketUnsentBytesMax / 4) socket.data.session?.onRoom();
    },
    close({ data }) {
      const { session } = data;
      data.messages?.close();
      if (session === null) return;
      data.session = null;
      sessions.remove(session);
      session.onClose();
    },
  };
}

function linkOf(socket: Bun.ServerWebSocket<SocketData>): SocketLink {
  return {
    send(text) {
      const sent = socket.send(text);
      if (sent === -1) return "full";
      return sent === 0 ? "gone" : "sent";
    },
    close: (code, reason) => socket.close(code, reason.slice(0, reasonCharactersMax)),
    cut: () => socket.terminate(),
  };
}

/** RFC 6455, 5.5: a control frame holds 125 bytes, two of them the code. */
const reasonCharactersMax = 120;
