import { bounds, Failure, type FailureCode, type HeaderReader, type MemoryOwner } from "#core/index.ts";
import {
  type CallerRequest,
  type Guarded,
  HttpServer,
  InnerSocket,
  type Peer,
  type RefusedReason,
  ServerAnswer,
} from "#http-server/index.ts";
import { FieldHeaders, fieldOf, type RequestHead } from "#http1/index.ts";
import { openaiChat } from "#protocols/index.ts";
import { type Arrival, answerArrival, asksForSocket, type ListenerRole, reportUnanswered } from "./answer-arrival.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import { asResponse } from "./call-request.ts";
import { CallerAddress } from "./caller-address.ts";
import type { ApiDependencies, SocketOpening } from "./dependencies.ts";
import { answerDirect } from "./direct-call.ts";
import { flawOfPath } from "./plain-target.ts";
import { targetOf } from "./request-parts.ts";
import { dataPlane, exactPaths } from "./routes.ts";
import { IncomingMessages } from "./socket/incoming-messages.ts";
import { type OpenSession, type SocketLink, type SocketSession, SocketSessions } from "./socket/socket-link.ts";

/** What waits in the runtime to be read by the other side; a socket that holds more is closed. */
const socketUnsentBytesMax = 32 * 1024 * 1024;
/** Without a sign of the other side the runtime asks for one, and then takes it for gone. Seconds. */
const socketSilenceSeconds = 120;

export interface ApiServer {
  readonly port: number;
  readonly sockets: () => number;
  /** The port and idle connections are closed; WebSockets end with what is under way on them, other connections with their answer. */
  leave(): void;
  /** Only the WebSockets end so. */
  leaveSockets(): void;
  /** Requests being answered, streams included. */
  readonly pending: () => number;
  /** Another server takes the port over: from now on connections end with their answers. */
  retire(): void;
  /** Closes the port and idle connections. Resolves when all that is under way has ended, WebSockets too. */
  closePort(): Promise<void>;
  /** Closes the port; `now` also ends what is still open. */
  stop(now: boolean): Promise<void>;
}

/** What a port shows to callers, both as PEM. */
export interface ServerCertificate {
  readonly chain: string;
  readonly key: string;
}

export interface ApiServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** What is served here; everything by default. */
  readonly role?: ListenerRole;
  /** Addresses and ranges of proxies that are believed when they say who the caller is. */
  readonly trustedProxies?: readonly string[];
  /** How long a connection may be silent while no call is under way on it. The runtime looks every four seconds. */
  readonly idleSeconds?: number;
  /** Other processes may have the port open too; the system shares new connections out among them. */
  readonly shared?: boolean;
  /** The port speaks TLS; left out: plain HTTP. */
  readonly certificate?: ServerCertificate;
}

/** What the two servers of a port share. */
interface Port {
  readonly dependencies: ApiDependencies;
  readonly role: ListenerRole;
  readonly bodies: BodyDeadlines;
  readonly callers: CallerAddress;
  readonly sessions: SocketSessions;
  readonly idleSeconds: number;
  /** Through which our own server comes to the runtime's. */
  readonly innerSocket: InnerSocket;
}

/** Opens the port: our own server answers calls, and the runtime's behind it, which nothing else knows, all else. */
export function serveApi(dependencies: ApiDependencies, options: ApiServerOptions): ApiServer {
  let retiring = false;
  const sessions = new SocketSessions();
  const port: Port = {
    dependencies,
    role: options.role ?? "all",
    bodies: new BodyDeadlines(dependencies.clock),
    callers: new CallerAddress(options.trustedProxies ?? [], dependencies.observer),
    sessions,
    idleSeconds: options.idleSeconds ?? bounds.idleConnectionMs / 1_000,
    innerSocket: new InnerSocket(),
  };
  const inner = serveRuntime(port);
  let server: HttpServer;
  try {
    server = serveOwn(port, options, () => retiring || dependencies.leaving());
  } catch (thrown) {
    void inner.stop(true);
    throw thrown;
  }
  return {
    port: server.port,
    // What the last session has said may still be on its way.
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

/** Our own server, at the port. `leaving`: connections are closed with their answers. */
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
    idleMs: port.idleSeconds * 1_000,
    isCall,
    answer: (request, reply) => {
      if (port.role !== "console" && answerDirect(dependencies, callerOf, request, reply)) return;
      const { path, query } = targetOf(request.target);
      const arrival: Arrival = {
        request,
        whole: null,
        path,
        query,
        startedMs: dependencies.clock.monotonic(),
        address: addressOf(callers, request.peer, request.headers),
        role: port.role,
        flaw: flawOf(request.target, path),
        bodies: port.bodies,
        patient: nothing,
        done: nothing,
      };
      answerArrival(dependencies, arrival).then(
        (answer) => reply.send(answer),
        (thrown: unknown) => reply.fail(thrown),
      );
    },
    refuse: (reason, message) => refusal(dependencies, reason, message),
    inner: port.innerSocket,
    onUnsent: ({ head, address, startedMs, late }) => {
      const failure = late
        ? new Failure("request_timeout", "The body arrived too slowly.")
        : new Failure("client_closed", "The caller went away while sending its body.");
      reportUnanswered(dependencies, failure, {
        method: head.method,
        path: targetOf(head.target).path,
        address: callers.of(address, new FieldHeaders(head.fields)),
        startedMs,
      });
    },
    leaving,
    ...(options.certificate === undefined ? {} : { certificate: options.certificate }),
    onHandshakeProblem: (problem, address) => {
      dependencies.handshakeProblem?.(problem);
      dependencies.observer.log("debug", "TLS was not agreed upon with a caller.", { problem, address });
    },
  });
}

/** Our own connections know how long they wait, and what has ended. */
const nothing = (): void => {};

/** Computed on first use. */
function addressOf(callers: CallerAddress, peer: string, headers: HeaderReader): () => string {
  let address: string | null = null;
  return () => {
    address ??= callers.of(peer, headers);
    return address;
  };
}

/** A call of the data plane, but for those that would become WebSockets; and whatever is refused for its target. */
function isCall({ method, target, fields }: RequestHead): boolean {
  const isSocket =
    method === "GET" && (fieldOf(fields, "upgrade") !== null || fieldOf(fields, "sec-websocket-key") !== null);
  if (!isSocket && target.startsWith("/v1") && dataPlane.test(targetOf(target).path)) return true;
  return flawOf(target, targetOf(target).path) !== null;
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

/** Logged once a minute at most, because a caller beyond the limit opens many connections. */
function turnedAwayLog({ clock, observer }: ApiDependencies): (address: string) => void {
  let nextMs = Number.NEGATIVE_INFINITY;
  return (address) => {
    const nowMs = clock.monotonic();
    if (nowMs < nextMs) return;
    nextMs = nowMs + 60_000;
    const message =
      "Connections are turned away. Callers have as many as the gateway can take, or one address has its share.";
    observer.log("warn", message, { address });
  };
}

function serveRuntime(port: Port): BunServer {
  const inner = {
    // Bodies are bounded by our own reading, in the caller's dialect; this is the backstop behind it.
    maxRequestBodySize: bounds.requestBodyBytesMax * 2,
    development: false as const,
    fetch: (request: Request, server: BunServer) => answer(port, request, server),
    websocket: socketHandlers(port.dependencies, port.sessions),
    error: () => new Response("internal error\n", { status: 500 }),
  };
  // It holds at sockets without a port too, of which the runtime's types do not know it.
  const patience: object = { idleTimeout: port.idleSeconds };
  return Bun.serve<SocketData>({ ...inner, ...patience, unix: port.innerSocket.path });
}

type BunServer = Bun.Server<SocketData>;

/** Our own server comes to the runtime's in the clear; what reads a request sees how its caller came. */
function asAsked(request: Request, { secure }: Peer): Request {
  return secure && request.url.startsWith("http:")
    ? new Request(`https:${request.url.slice("http:".length)}`, request)
    : request;
}

async function answer(port: Port, request: Request, server: BunServer): Promise<Response | undefined> {
  const { dependencies, sessions } = port;
  const peer = port.innerSocket.admit(request.headers);
  if (peer === null) return new Response("not for you\n", { status: 403 });
  const asked = asAsked(request, peer);
  let lifted = false;
  let switched = false;
  const arrival: Arrival = {
    request: asked,
    whole: asked,
    ...targetOf(request.url),
    startedMs: dependencies.clock.monotonic(),
    address: addressOf(port.callers, peer.address, request.headers),
    role: port.role,
    // Our own server has looked at the target as it was sent.
    flaw: null,
    bodies: port.bodies,
    patient: () => {
      lifted = true;
      server.timeout(request, 0);
    },
    // The connection keeps what was set for a call: lifted for good, it would be held by whoever says nothing more.
    done: () => {
      if (lifted && !switched) server.timeout(request, port.idleSeconds);
    },
  };
  const openSocket: SocketOpening = {
    open: sessions.size,
    openOf: (id) => sessions.sizeOf(id),
    upgrade: ({ headers, owner, open }) => {
      const data = { owner, open, tunnel: peer.tunnel, session: null, messages: null };
      switched = server.upgrade(request, { headers, data });
      return switched;
    },
    call: async (inner) => {
      const startedMs = dependencies.clock.monotonic();
      const within = {
        ...arrival,
        request: inner,
        whole: inner,
        query: "",
        startedMs,
        patient: nothing,
        done: nothing,
      };
      return asResponse(await answerArrival(dependencies, within));
    },
  };
  const made = await answerArrival(dependencies, asksForSocket(request) ? { ...arrival, openSocket } : arrival);
  return switched ? undefined : asResponse(made);
}

/** What the runtime keeps of one WebSocket. */
interface SocketData {
  readonly owner: MemoryOwner;
  readonly open: OpenSession;
  readonly tunnel: Guarded | null;
  session: SocketSession | null;
  /** What has come of its messages; null: nothing counts it. */
  messages: IncomingMessages | null;
}

/** The runtime's WebSockets, handed to their sessions. It asks for signs of life by itself and answers those of others. */
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
    // A packed frame could stand for a thousand times its size.
    perMessageDeflate: false,
    open(socket) {
      const session = socket.data.open(linkOf(socket));
      socket.data.session = session;
      sessions.add(session, socket.data.owner);
      if (socket.data.tunnel === null) return;
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
    // It is told of each part that has left: more is sent once most of it has, or it would add up to the limit.
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
