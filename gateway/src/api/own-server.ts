import { Failure, type FailureCode } from "#core/index.ts";
import {
  type CallerRequest,
  HttpServer,
  type InnerSocket,
  type RefusedReason,
  ServerAnswer,
} from "#http-server/index.ts";
import { FieldHeaders, fieldOf, type RequestHead } from "#http1/index.ts";
import { openaiChat } from "#protocols/index.ts";
import { answerArrival, type ListenerRole, reportUnanswered } from "./answer-arrival.ts";
import type { ApiServer, ServerCertificate } from "./api-server.ts";
import type { BodyDeadlines } from "./body-deadlines.ts";
import type { Answer } from "./call-request.ts";
import type { CallerAddress } from "./caller-address.ts";
import type { ApiDependencies } from "./dependencies.ts";
import { flawOfPath } from "./plain-target.ts";
import { dataPlane, exactPaths } from "./routes.ts";
import { targetOf } from "./target.ts";

export interface OwnServerOptions {
  readonly hostname: string;
  readonly port: number;
  readonly shared?: boolean;
  readonly idleSeconds: number;
  readonly role: ListenerRole;
  readonly bodies: BodyDeadlines;
  readonly callers: CallerAddress;
  readonly innerSocket: InnerSocket;
  readonly certificate?: ServerCertificate;
  /** Connections are closed with their answers. */
  readonly closing: () => boolean;
}

/** The runtime's server behind our own. */
export interface RuntimeServer extends Omit<ApiServer, "retire" | "port"> {
  /** Requests on WebSockets that are answered, or wait for it. */
  readonly socketsPending: () => number;
}

/** Our own server at the port: calls are answered here, and all else by the runtime's server behind it. */
export function serveOwn(
  dependencies: ApiDependencies,
  options: OwnServerOptions,
  inner: RuntimeServer,
): Omit<ApiServer, "retire"> {
  const { hostname, port, role, bodies, callers } = options;
  const answer = (request: CallerRequest, target: string, peer: string): Promise<Answer> => {
    const { path, query } = targetOf(target);
    let address: string | null = null;
    return answerArrival(dependencies, {
      request,
      whole: null,
      path,
      query,
      startedMs: dependencies.clock.monotonic(),
      address: () => {
        address ??= callers.of(peer, request.headers);
        return address;
      },
      role,
      flaw: flawOf(target, path),
      bodies,
      patient: nothing,
      done: nothing,
    });
  };
  const server = new HttpServer({
    hostname,
    port,
    shared: options.shared === true,
    clock: dependencies.clock,
    memory: dependencies.memory,
    connections: dependencies.connections,
    onTurnedAway: turnedAwayLog(dependencies),
    idleMs: options.idleSeconds * 1_000,
    isCall,
    answer,
    refuse: (reason, message) => refusal(dependencies, reason, message),
    inner: options.innerSocket,
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
    leaving: options.closing,
    ...(options.certificate === undefined ? {} : { certificate: options.certificate }),
    onHandshakeProblem: (problem, address) => {
      dependencies.handshakeProblem?.(problem);
      dependencies.observer.log("debug", "TLS was not agreed upon with a caller.", { problem, address });
    },
  });
  const { sockets, leaveSockets } = inner;
  return {
    port: server.port,
    // What the last session has said may still be on its way.
    sockets: () => Math.max(sockets(), server.upgraded),
    leaveSockets,
    pending: () => server.pending + inner.socketsPending(),
    leave() {
      leaveSockets();
      server.leave();
    },
    async closePort() {
      server.leave();
      await server.ended;
      await inner.closePort();
    },
    async stop(now) {
      server.stop(now);
      await inner.stop(now);
    },
  };
}

/** Its own connections know how long they wait, and what has ended. */
const nothing = (): void => {};

/** A call of the data plane, but for those that would become WebSockets. */
function isCall({ method, target, fields }: RequestHead): boolean {
  if (!target.startsWith("/v1") || !dataPlane.test(targetOf(target).path)) return false;
  return method !== "GET" || (fieldOf(fields, "upgrade") === null && fieldOf(fields, "sec-websocket-key") === null);
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
