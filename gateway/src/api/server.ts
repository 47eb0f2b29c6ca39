import { bounds, type MemoryOwner } from "#core/index.ts";
import { type Guarded, InnerSocket, type Peer } from "#http-server/index.ts";
import { answerArrival, asksForSocket, type ListenerRole } from "./answer-arrival.ts";
import type { ApiServer, ServerCertificate } from "./api-server.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import { asResponse } from "./call-request.ts";
import { CallerAddress } from "./caller-address.ts";
import type { ApiDependencies, SocketOpening } from "./dependencies.ts";
import { type RuntimeServer, serveOwn } from "./own-server.ts";
import { emptyPart, flawOf } from "./plain-target.ts";
import { exactPaths } from "./routes.ts";
import { IncomingMessages } from "./socket/incoming-messages.ts";
import { type OpenSession, type SocketLink, type SocketSession, SocketSessions } from "./socket/socket-link.ts";
import { targetOf } from "./target.ts";

/** What waits in the runtime to be read by the other side; a socket that holds more is closed. */
const socketUnsentBytesMax = 32 * 1024 * 1024;
/** Without a sign of the other side the runtime asks for one, and then takes it for gone. Seconds. */
const socketSilenceSeconds = 120;

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

/** Opens the port: our own server, and behind it the runtime's, which nothing else knows. */
export function serveApi(dependencies: ApiDependencies, options: ApiServerOptions): ApiServer {
  let retiring = false;
  const entrance: Entrance = {
    bodies: new BodyDeadlines(dependencies.clock),
    callers: new CallerAddress({ trustedProxies: options.trustedProxies ?? [], observer: dependencies.observer }),
    sessions: new SocketSessions(),
    idleSeconds: options.idleSeconds ?? bounds.idleConnectionMs / 1_000,
    role: options.role ?? "all",
    innerSocket: new InnerSocket(),
    closing: () => retiring || dependencies.leaving(),
    flaw: null,
  };
  const inner = serveRuntime(dependencies, entrance);
  const retire = (): void => {
    retiring = true;
  };
  try {
    return { ...serveOwn(dependencies, { ...options, ...entrance }, inner), retire };
  } catch (thrown) {
    void inner.stop(true);
    throw thrown;
  }
}

/** The runtime's server, behind our own. */
function serveRuntime(dependencies: ApiDependencies, entrance: Entrance): RuntimeServer {
  const { sessions, innerSocket, idleSeconds } = entrance;
  const inner = {
    // Bodies are bounded by our own reading, in the caller's dialect; this is the backstop behind it.
    maxRequestBodySize: bounds.requestBodyBytesMax * 2,
    development: false as const,
    routes: shapesOf((request, server, flaw) => answer(dependencies, request, server, { ...entrance, flaw })),
    // What no shape fits: an empty part, or more parts than any path of ours.
    fetch: (request: Request, server: BunServer) =>
      answer(dependencies, request, server, { ...entrance, flaw: emptyPart }),
    websocket: socketHandlers(dependencies, sessions),
    error: () => new Response("internal error\n", { status: 500 }),
  };
  // It holds at sockets without a port too, of which the runtime's types do not know it.
  const patience: object = { idleTimeout: idleSeconds };
  const server = Bun.serve<SocketData>({ ...inner, ...patience, unix: innerSocket.path });
  return {
    pending: () => server.pendingRequests + sessions.pending,
    socketsPending: () => sessions.pending,
    sockets: () => sessions.size,
    leave() {
      sessions.leave();
      // What is under way goes on. A refused connection can be made elsewhere, also by proxies that send no call twice.
      void server.stop(false);
    },
    leaveSockets: () => {
      sessions.leave();
    },
    closePort: () => server.stop(false),
    stop: async (now) => {
      await server.stop(now);
    },
  };
}

type BunServer = Bun.Server<SocketData>;

interface Entrance {
  readonly role: ListenerRole;
  readonly bodies: BodyDeadlines;
  readonly callers: CallerAddress;
  readonly sessions: SocketSessions;
  readonly idleSeconds: number;
  /** Through which our own server comes to the runtime's. */
  readonly innerSocket: InnerSocket;
  /** Connections are closed with their answers. */
  readonly closing: () => boolean;
  /** What is wrong with the target as it was sent; null: nothing. */
  readonly flaw: string | null;
}

type Handler = (request: Bun.BunRequest, server: BunServer) => Promise<Response | undefined>;

/**
 * The shapes that a path may have, for the runtime's router. It matches the target as it was sent: what it finds among the
 * exact ones is plain, and of any other it tells the parts.
 */
function shapesOf(
  act: (request: Request, server: BunServer, flaw: string | null) => Promise<Response | undefined>,
): Record<string, Handler> {
  const plain: Handler = (request, server) => act(request, server, null);
  const inParts: Handler = (request, server) =>
    act(request, server, flawOf(request.params as Record<string, string>, targetOf(request.url).path));
  const shapes: Record<string, Handler> = { "/": plain };
  for (const path of exactPaths) shapes[path] = plain;
  let shape = "";
  for (let part = 1; part <= bounds.pathPartsMax; part++) {
    shape += `/:part${part}`;
    shapes[shape] = inParts;
    shapes[`${shape}/`] = inParts;
  }
  return shapes;
}

/** Our own server comes to the runtime's in the clear; what reads a request sees how its caller came. */
function asAsked(request: Request, { secure }: Peer): Request {
  return secure && request.url.startsWith("http:")
    ? new Request(`https:${request.url.slice("http:".length)}`, request)
    : request;
}

function answer(
  dependencies: ApiDependencies,
  request: Request,
  server: BunServer,
  entrance: Entrance,
): Promise<Response | undefined> {
  const startedMs = dependencies.clock.monotonic();
  const peer = entrance.innerSocket.admit(request.headers);
  if (peer === null) return Promise.resolve(new Response("not for you\n", { status: 403 }));
  const asked = asAsked(request, peer);
  const { path, query } = targetOf(request.url);
  let lifted = false;
  let switched = false;
  let address: string | null = null;
  const answered = answerArrival(dependencies, {
    request: asked,
    whole: asked,
    path,
    query,
    startedMs,
    address: () => {
      address ??= entrance.callers.of(peer.address, request.headers);
      return address;
    },
    role: entrance.role,
    flaw: entrance.flaw,
    bodies: entrance.bodies,
    ...(asksForSocket(request) ? { openSocket: opening() } : {}),
    patient: () => {
      lifted = true;
      server.timeout(request, 0);
    },
    // The connection keeps what was set for a call: lifted for good, it would be held by whoever says nothing more.
    done: () => {
      if (lifted && !switched) server.timeout(request, entrance.idleSeconds);
    },
  });
  return answered.then((made) => (switched ? undefined : asResponse(made)));

  function opening(): SocketOpening {
    return {
      open: entrance.sessions.size,
      openOf: (id) => entrance.sessions.sizeOf(id),
      upgrade: ({ headers, owner, open }) => {
        switched = server.upgrade(request, {
          headers,
          data: { owner, open, tunnel: peer?.tunnel ?? null, session: null, messages: null },
        });
        return switched;
      },
      call: (inner) =>
        answerArrival(dependencies, {
          request: inner,
          whole: inner,
          path,
          query: "",
          startedMs: dependencies.clock.monotonic(),
          address: () => address ?? "",
          bodies: entrance.bodies,
          patient: () => {},
          done: () => {},
          role: entrance.role,
          flaw: null,
        }).then(asResponse),
    };
  }
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
      const messages = new IncomingMessages({ held, clock, refuse: (failure) => session.refuse(failure) });
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
