import { bounds } from "#core/index.ts";
import { answerArrival, type Door } from "./answer-arrival.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import { CallerAddress } from "./caller-address.ts";
import type { Face } from "./face.ts";
import { flawOf } from "./plain-target.ts";
import { exactPaths } from "./routes.ts";
import { targetOf } from "./target.ts";

export interface ApiServer {
  readonly port: number;
  /** Requests being answered, streams included. */
  readonly pending: () => number;
  /** Closes the door; `now` also ends what is still open. */
  stop(now: boolean): Promise<void>;
}

export interface ApiServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** What is served here; everything by default. */
  readonly door?: Door;
  /** Addresses and ranges of proxies that are believed when they say who the caller is. */
  readonly trustedProxies?: readonly string[];
  /** How long a connection may be silent while no call is under way on it. The runtime looks every four seconds. */
  readonly idleSeconds?: number;
}

/** Opens the port. The only place that knows the HTTP server of the runtime. */
export function serveApi(face: Face, options: ApiServerOptions): ApiServer {
  const bodies = new BodyDeadlines(face.clock);
  const callers = new CallerAddress({ trustedProxies: options.trustedProxies ?? [], observer: face.observer });
  const door = options.door ?? "all";
  const idleSeconds = options.idleSeconds ?? bounds.idleConnectionMs / 1_000;
  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    idleTimeout: idleSeconds,
    // Bodies are bounded by our own reading, in the caller's dialect; this is the backstop behind it.
    maxRequestBodySize: bounds.requestBodyBytesMax * 2,
    development: false,
    // The runtime shares the port by default outside development; two gateways would then split the calls between them.
    reusePort: false,
    routes: shapesOf((request, server, flaw) =>
      answer(face, request, server, { bodies, callers, idleSeconds, door, flaw }),
    ),
    // What no shape fits: an empty part, or more parts than any path of ours.
    fetch: (request, server) => answer(face, request, server, { bodies, callers, idleSeconds, door, flaw: emptyPart }),
    error: () => new Response("internal error\n", { status: 500 }),
  });
  return {
    port: server.port ?? options.port,
    pending: () => server.pendingRequests,
    stop: async (now) => {
      await server.stop(now);
    },
  };
}

type BunServer = ReturnType<typeof Bun.serve>;

interface Entrance {
  readonly door: Door;
  readonly bodies: BodyDeadlines;
  readonly callers: CallerAddress;
  readonly idleSeconds: number;
  /** What is wrong with the target as it was sent; null: nothing. */
  readonly flaw: string | null;
}

const emptyPart = `A part of it is empty, or there are more than ${bounds.pathPartsMax}.`;

type Handler = (request: Bun.BunRequest, server: BunServer) => Promise<Response>;

/**
 * The shapes that a path may have, for the runtime's router. It matches the target as it was sent: what it finds among the
 * exact ones is plain, and of any other it tells the parts.
 */
function shapesOf(
  act: (request: Request, server: BunServer, flaw: string | null) => Promise<Response>,
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

function answer(face: Face, request: Request, server: BunServer, entrance: Entrance): Promise<Response> {
  const startedMs = face.clock.monotonic();
  const { path, query } = targetOf(request.url);
  let lifted = false;
  let address: string | null = null;
  return answerArrival(face, {
    request,
    path,
    query,
    startedMs,
    address: () => {
      address ??= entrance.callers.of(server.requestIP(request)?.address ?? "", request.headers);
      return address;
    },
    door: entrance.door,
    flaw: entrance.flaw,
    bodies: entrance.bodies,
    patient: () => {
      lifted = true;
      server.timeout(request, 0);
    },
    // The connection keeps what was set for a call: lifted for good, it would be held by whoever says nothing more.
    done: () => {
      if (lifted) server.timeout(request, entrance.idleSeconds);
    },
  });
}
