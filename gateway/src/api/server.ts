import { asFailure, bounds, Failure } from "#core/index.ts";
import type { Dialect } from "#protocols/index.ts";
import { BodyDeadlines } from "./body-deadlines.ts";
import type { Exchange, Face } from "./face.ts";
import { renderFailure } from "./respond.ts";
import { dialectOf, routeOf } from "./routes.ts";

export interface ApiServer {
  readonly port: number;
  /** Requests being answered, streams included. */
  readonly pending: () => number;
  /** Closes the door; `now` also ends what is still open. */
  stop(now: boolean): Promise<void>;
}

/** Opens the port. The only place that knows the HTTP server of the runtime. */
export function serveApi(face: Face, options: { readonly hostname: string; readonly port: number }): ApiServer {
  const bodies = new BodyDeadlines(face.clock);
  const server = Bun.serve({
    hostname: options.hostname,
    port: options.port,
    idleTimeout: 60,
    // Bodies are bounded by our own reading, in the caller's dialect; this is the backstop behind it.
    maxRequestBodySize: bounds.requestBodyBytesMax * 2,
    development: false,
    // The runtime shares the port by default outside development; two gateways would then split the calls between them.
    reusePort: false,
    fetch: (request, server) => answer(face, request, server, bodies),
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

async function answer(face: Face, request: Request, server: BunServer, bodies: BodyDeadlines): Promise<Response> {
  const startedMs = face.clock.monotonic();
  const requestId = face.ids.next("req_");
  const url = request.url;
  const pathStart = url.indexOf("/", 8);
  const queryStart = url.indexOf("?", pathStart);
  const path = queryStart === -1 ? url.slice(pathStart) : url.slice(pathStart, queryStart);
  const address = (): string => server.requestIP(request)?.address ?? "";

  const route = routeOf(path, request.method);
  let response: Response;
  let streaming = false;
  const report = (): void =>
    face.observer.requestEnd(route?.name ?? "unknown", response.status, face.clock.monotonic() - startedMs);
  try {
    if (!isPlainHost(request.headers.get("host")))
      throw new Failure("invalid_request", "The Host header is not valid.");
    if (route === null) {
      if (!/^\/v1(beta)?(\/|$)/.test(path)) return await face.admin(request, { ip: address() });
      throw new Failure("not_found", `There is no ${request.method} ${path}.`);
    }
    if (face.draining() && path.startsWith("/v1")) {
      throw new Failure("draining", "The gateway is shutting down; try again.", { retryAfterMs: 1_000 });
    }
    const endpoint = route.methods[request.method];
    if (endpoint === undefined) throw methodNotAllowed(route.methods, request.method);
    const exchange: Exchange = {
      request,
      requestId,
      path,
      query: queryStart === -1 ? "" : url.slice(queryStart + 1),
      startedMs,
      address,
      bodies,
      patient: () => server.timeout(request, 0),
      streams: () => {
        streaming = true;
        return report;
      },
    };
    const answered = endpoint(face, exchange);
    response = answered instanceof Promise ? await answered : answered;
  } catch (thrown) {
    response = failed(face, thrown, requestId, dialectOf(route, path, request.headers));
  }
  if (!streaming) report();
  return response;
}

function failed(face: Face, thrown: unknown, requestId: string, dialect: Dialect): Response {
  const failure = asFailure(thrown);
  if (failure.code === "internal_error") {
    face.observer.log("error", "A request ended in an unexpected error.", { requestId, error: failure.cause });
  }
  const allow = thrown instanceof MethodNotAllowed ? { allow: thrown.allow } : {};
  return renderFailure(failure, requestId, allow, dialect);
}

/** RFC 9110, 15.5.6: the answer names what is allowed. */
class MethodNotAllowed extends Failure {
  readonly allow: string;

  constructor(method: string, allow: string) {
    super("method_not_allowed", `${method} is not possible here; ${allow} is.`);
    this.allow = allow;
  }
}

function methodNotAllowed(methods: Readonly<Record<string, unknown>>, method: string): Failure {
  return new MethodNotAllowed(method, Object.keys(methods).join(", "));
}

/** A host that holds no path or query of its own, which would move the path that the router reads. */
function isPlainHost(host: string | null): boolean {
  return host !== null && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host);
}
