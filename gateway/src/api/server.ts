import { bounds, Failure, type FailureCode } from "#core/index.ts";
import { type CallerRequest, HttpServer, type RefusedReason, ServerAnswer } from "#http-server/index.ts";
import { openaiChat } from "#protocols/index.ts";
import { type Arrival, answerArrival, asksForSocket, type ListenerRole } from "./answer-arrival.ts";
import { asResponse } from "./call-request.ts";
import { CallerAddress } from "./caller-address.ts";
import type { ApiDependencies } from "./dependencies.ts";
import { answerDirect } from "./direct-call.ts";
import { flawOfPath } from "./plain-target.ts";
import { targetOf } from "./request-parts.ts";
import { isExactPath } from "./routes.ts";
import { Sockets } from "./socket/sockets.ts";

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

/** Opens the port. Our own server answers requests, and the runtime's behind it speaks the protocol of WebSockets. */
export function serveApi(dependencies: ApiDependencies, options: ApiServerOptions): ApiServer {
  let retiring = false;
  const sockets = new Sockets(dependencies);
  let server: HttpServer;
  try {
    server = serveOwn(dependencies, options, sockets, () => retiring || dependencies.leaving());
  } catch (thrown) {
    void sockets.stop(true);
    throw thrown;
  }
  return {
    port: server.port,
    sockets: () => sockets.size,
    leaveSockets: () => sockets.leave(),
    pending: () => server.pending + sockets.pending,
    leave() {
      sockets.leave();
      server.leave();
    },
    retire() {
      retiring = true;
    },
    async closePort() {
      server.leave();
      await server.ended;
      await sockets.stop(false);
    },
    async stop(now) {
      server.stop(now);
      await sockets.stop(now);
    },
  };
}

/** Our own server. `leaving`: connections are closed after their answers. */
function serveOwn(
  dependencies: ApiDependencies,
  { hostname, port, shared, idleSeconds, certificate, role = "all", trustedProxies = [] }: ApiServerOptions,
  sockets: Sockets,
  leaving: () => boolean,
): HttpServer {
  const { clock, memory, connections, observer, journal } = dependencies;
  const callers = new CallerAddress(trustedProxies, observer);
  const addressOf = ({ peer, headers }: CallerRequest): string => callers.of(peer, headers);
  return new HttpServer({
    hostname,
    port,
    shared: shared === true,
    ...{ clock, memory, connections, leaving },
    beforeWriting: () => journal.flush(),
    onTurnedAway: turnedAwayLog(dependencies),
    idleMs: idleSeconds === undefined ? bounds.idleConnectionMs : idleSeconds * 1_000,
    answer: (request, reply) => {
      if (role !== "console" && answerDirect(dependencies, addressOf, request, reply)) return;
      const { path, query } = targetOf(request.target);
      const arrival: Arrival = {
        ...{ dependencies, request, path, query, role },
        startedMs: clock.monotonic(),
        // Read now: after an early close the connection no longer has it.
        address: addressOf(request),
        flaw: flawOf(request.target, path),
      };
      answerArrival(asksForSocket(request) ? { ...arrival, socket: socketOf(sockets, arrival) } : arrival).then(
        (answer) => reply.send(answer),
        (thrown: unknown) => reply.fail(thrown),
      );
    },
    refuse: (reason, message) => refusal(dependencies, reason, message),
    ...(certificate === undefined ? {} : { certificate }),
    onHandshakeProblem: (problem, address) => {
      dependencies.handshakeProblem?.(problem);
      observer.log("debug", "TLS handshake with a caller failed", { problem, address });
    },
  });
}

function socketOf(sockets: Sockets, arrival: Arrival): NonNullable<Arrival["socket"]> {
  const { clock } = arrival.dependencies;
  const call = (request: Request): Promise<Response> =>
    answerArrival({ ...arrival, request, query: "", startedMs: clock.monotonic() }).then(asResponse);
  return { sockets, call };
}

function flawOf(target: string, path: string): string | null {
  if (target.includes("#")) return "There is a # in it.";
  return isExactPath(path) ? null : flawOfPath(path);
}

function refusal(dependencies: ApiDependencies, reason: RefusedReason, message: string): ServerAnswer {
  const requestId = dependencies.ids.next("req_");
  const [status, code] = refusals[reason];
  const headers = { "content-type": "application/json", "x-request-id": requestId };
  const text = openaiChat.renderError(new Failure(code, message), requestId);
  return new ServerAnswer(status, reason === "full" ? { ...headers, "retry-after": "1" } : headers, Buffer.from(text));
}

const refusals: Readonly<Record<RefusedReason, readonly [status: number, FailureCode]>> = {
  syntax: [400, "invalid_request"],
  framing: [400, "invalid_request"],
  head_too_large: [431, "invalid_request"],
  version: [505, "invalid_request"],
  late: [408, "request_timeout"],
  expectation: [417, "invalid_request"],
  full: [503, "overloaded"],
};

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
