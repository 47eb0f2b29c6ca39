import { bounds } from "#core/index.ts";
import { answerArrival } from "./answer-arrival.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import type { Face } from "./face.ts";
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
  /** How long a connection may be silent while no call is under way on it. The runtime looks every four seconds. */
  readonly idleSeconds?: number;
}

/** Opens the port. The only place that knows the HTTP server of the runtime. */
export function serveApi(face: Face, options: ApiServerOptions): ApiServer {
  const bodies = new BodyDeadlines(face.clock);
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
    fetch: (request, server) => answer(face, request, server, { bodies, idleSeconds }),
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

interface Door {
  readonly bodies: BodyDeadlines;
  readonly idleSeconds: number;
}

function answer(face: Face, request: Request, server: BunServer, door: Door): Promise<Response> {
  const startedMs = face.clock.monotonic();
  const { path, query } = targetOf(request.url);
  let lifted = false;
  return answerArrival(face, {
    request,
    path,
    query,
    startedMs,
    address: () => server.requestIP(request)?.address ?? "",
    bodies: door.bodies,
    patient: () => {
      lifted = true;
      server.timeout(request, 0);
    },
    // The connection keeps what was set for a call: lifted for good, it would be held by whoever says nothing more.
    done: () => {
      if (lifted) server.timeout(request, door.idleSeconds);
    },
  });
}
