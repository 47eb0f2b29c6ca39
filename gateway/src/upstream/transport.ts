import { bounds, type CallSignal, type Egress, type ExemptRule, Failure } from "#core/index.ts";
import type { Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { watchConnect } from "./connect-watch.ts";
import { Exchange } from "./exchange.ts";
import { streamedBody } from "./large-body.ts";
import type { Resolve } from "./name-cache.ts";
import { originEnd } from "./origin.ts";
import { RequestBody } from "./request-body.ts";
import { type Route, RouteTable, type Target } from "./route-table.ts";
import { clientClosed, closedEarly, failedSend, neverConnected, staleConnection } from "./send-failure.ts";
import { SocketTransport } from "./socket-transport.ts";
import { StreamBody } from "./stream-body.ts";
import { systemResolve } from "./system-resolve.ts";

/** Answers requests to `demo://<name>/…` without a socket. It is given the URL with `http:` in the place of `demo:`. */
export type InProcessHandler = (request: Request) => Response | Promise<Response>;

export interface TransportOptions {
  readonly clock: Clock;
  /** Handlers by the host of their `demo:` URLs. */
  readonly inProcess?: ReadonlyMap<string, InProcessHandler>;
  /** How names become addresses; the machine's resolver by default. */
  readonly resolve?: Resolve;
  /** `own`: HTTP/1.1 of our own on the runtime's sockets, the default. `runtime`: the runtime's fetch. */
  readonly http?: "own" | "runtime";
  /** Certificate authorities (PEM) to trust instead of the machine's own: a closed network, a test. */
  readonly authorities?: readonly string[] | undefined;
  /** The proxies that calls leave by; null or left out: none. Those of the process's environment are never asked unseen. */
  readonly egress?: Egress | null;
  /** Private places that webhooks may go to; left out: none. */
  readonly webhookPlaces?: readonly ExemptRule[];
}

/** One request on its way. `streamed`: how its body is read by the connection, where that is seen. */
interface Outgoing {
  readonly exchange: Exchange;
  streamed: RequestBody | null;
}

/**
 * Fetch gives every streamed body a connection of its own, and asks for the body once that connection stands. So a request
 * that needs a new connection anyway is sent as a stream: a body that was never asked for was not sent.
 */
function asStream({ body, headersMs, headers }: OutboundRequest, init: BunFetchRequestInit, out: Outgoing): void {
  init.keepalive = false;
  if (out.streamed !== null || !(body instanceof Uint8Array) || body.length === 0) return;
  out.streamed = new RequestBody({ size: body.length, open: () => oneChunk(body) }, out.exchange, headersMs);
  init.headers = { ...init.headers, ...headersOf(headers, out.streamed) };
}

function oneChunk(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}

/** A request that may have gone out on a kept connection, to an address that had been silent for so long. */
interface SentOnKept {
  readonly target: Target;
  readonly sentMs: number;
  readonly silentMs: number;
}

const demoScheme = "demo://";

export function createTransport(options: TransportOptions): Transport {
  const { clock, resolve = systemResolve, authorities, egress, webhookPlaces } = options;
  const routes = new RouteTable({ clock, resolve, authorities, egress, webhookPlaces });
  const runtime = new FetchTransport(options, routes);
  const own = new SocketTransport(clock, routes);
  if (options.http === "runtime") {
    const isOwn = ({ url, network }: OutboundRequest) => !url.startsWith(demoScheme) && isSpecial(routes, url, network);
    return { send: (request, signal) => (isOwn(request) ? own : runtime).send(request, signal) };
  }
  return {
    send: (request, signal) => (request.url.startsWith(demoScheme) ? runtime : own).send(request, signal),
  };
}

/** What cannot be sent at all is told by whoever sends it. */
function isSpecial(routes: RouteTable, url: string, network: OutboundRequest["network"]): boolean {
  try {
    return routes.isSpecial(url, network);
  } catch {
    return false;
  }
}

class FetchTransport implements Transport {
  readonly #clock: Clock;
  readonly #routes: RouteTable;
  readonly #inProcess: ReadonlyMap<string, InProcessHandler>;

  constructor(options: TransportOptions, routes: RouteTable) {
    this.#clock = options.clock;
    this.#routes = routes;
    this.#inProcess = options.inProcess ?? new Map();
  }

  async send(request: OutboundRequest, signal: CallSignal): Promise<OutboundAnswer> {
    if (signal.aborted) throw clientClosed().with({ arrival: "unsent" });
    const source = streamedBody(request.body);
    const exchange = new Exchange(this.#clock, signal, request.totalMs);
    const { headersMs } = request;
    const out: Outgoing = {
      exchange,
      streamed: source === null ? null : new RequestBody(source, exchange, headersMs),
    };
    try {
      const response = request.url.startsWith(demoScheme)
        ? await this.#callInProcess(request, out)
        : await this.#fetch(request, out);
      out.streamed?.answered();
      if (exchange.failure !== null) throw exchange.failure;
      exchange.pause();
      return { status: response.status, headers: response.headers, body: new StreamBody(exchange, response) };
    } catch (thrown) {
      const failure = exchange.failure ?? unsendable(request) ?? failedSend(thrown);
      exchange.fail(failure);
      // A body is asked for once there is a connection; nobody can act on a request that lacks it.
      throw out.streamed?.begun === false ? failure.with({ arrival: "unsent" }) : failure;
    }
  }

  async #fetch(request: OutboundRequest, out: Outgoing): Promise<Response> {
    const { exchange } = out;
    const found = this.#routes.find(request.url, request.allowPrivateNetwork, undefined, request.webhook);
    const route = found instanceof Promise ? await exchange.race(found) : found;
    const rest = request.url.slice(originEnd(request.url));
    const init = this.#init(request, out.streamed, route, exchange.signal);
    // Another address is dialled only while nothing was sent, so no request is repeated by this loop.
    const count = route.targets.length;
    const first = route.preferred;
    for (let tried = 1; ; tried++) {
      const index = (first + tried - 1) % count;
      const target = route.targets[index];
      if (target === undefined) throw new Error("a route without targets");
      const sentMs = this.#clock.monotonic();
      const silentMs = sentMs - target.answeredMs;
      const mayBeKept = init.keepalive === true && out.streamed === null && silentMs <= bounds.keptConnectionIdleMs;
      if (!mayBeKept) asStream(request, init, out);
      watchConnect(this.#clock, exchange, route, target, request.connectMs);
      exchange.begin("headers", request.headersMs);
      if (out.streamed !== null) init.body = out.streamed.open();
      try {
        const response = await fetch(target.base + rest, init);
        target.lifeMs = target.answeredMs = this.#clock.monotonic();
        route.preferred = index;
        exchange.dropCheck();
        return response;
      } catch (thrown) {
        if (mayBeKept && this.#wasStale(thrown, { target, sentMs, silentMs })) throw staleConnection(thrown);
        if (exchange.failure !== null || !neverConnected(thrown) || tried >= count) throw thrown;
      }
    }
  }

  /** Those that are kept beside it may be as old: the next request has a connection of its own. */
  #wasStale(thrown: unknown, { target, sentMs, silentMs }: SentOnKept): boolean {
    if (!closedEarly(thrown) || silentMs < bounds.staleSilenceMs) return false;
    if (this.#clock.monotonic() - sentMs > bounds.staleEndMs) return false;
    target.answeredMs = Number.NEGATIVE_INFINITY;
    return true;
  }

  /**
   * The address is in the URL and the name in `host` and `serverName`: the certificate is verified against the name.
   * The environment's proxy is not asked, or it would look the name up again, unchecked. Fetch repeats a GET or DELETE by
   * itself when a kept connection turns out to be closed (never a POST); a DELETE therefore gets a connection of its own,
   * as fetch gives one to every streamed body.
   */
  #init(
    request: OutboundRequest,
    streamed: RequestBody | null,
    route: Route,
    signal: AbortSignal,
  ): BunFetchRequestInit {
    const init: BunFetchRequestInit = {
      method: request.method,
      headers: {
        ...headersOf(request.headers, streamed),
        "accept-encoding": "identity",
        host: route.origin.hostHeader,
      },
      body: streamed === null && request.body instanceof Uint8Array ? request.body : null,
      signal,
      redirect: "manual",
      decompress: false,
      proxy: false,
      timeout: false,
      keepalive: request.method !== "DELETE" && request.ownConnection !== true,
    };
    if (route.tls !== undefined) init.tls = route.tls;
    return init;
  }

  #callInProcess(request: OutboundRequest, { streamed, exchange }: Outgoing): Promise<Response> {
    const rest = request.url.slice(demoScheme.length);
    const host = rest.slice(0, originEnd(request.url) - demoScheme.length);
    const handler = this.#inProcess.get(host);
    if (handler === undefined) throw new Error(`no in-process upstream named ${host}`);
    const { method } = request;
    const headers = headersOf(request.headers, streamed);
    const body = streamed?.open() ?? (request.body instanceof Uint8Array ? request.body : null);
    exchange.begin("headers", request.headersMs);
    const call = async () => handler(new Request(`http://${rest}`, { method, headers, body, signal: exchange.signal }));
    return exchange.race(call(), (late) => void late.body?.cancel().catch(() => {}));
  }
}

/** With a length, fetch sends a streamed body as it is, not in chunks, which some upstreams refuse. */
function headersOf(headers: Record<string, string>, streamed: RequestBody | null): Record<string, string> {
  return streamed === null ? headers : { ...headers, "content-length": String(streamed.size) };
}

/** Headers that HTTP cannot carry come from the caller; no other deployment would take them either. */
function unsendable(request: OutboundRequest): Failure | null {
  try {
    new Headers(request.headers);
    return null;
  } catch (thrown) {
    return new Failure("invalid_request", "A header cannot be sent to the upstream.", {
      arrival: "unsent",
      cause: thrown,
    });
  }
}
