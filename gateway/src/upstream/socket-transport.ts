import { asFailure, bounds, type CallSignal, Failure } from "#core/index.ts";
import { MalformedMessage, type ResponseHead } from "#http1/index.ts";
import type { AnswerListener, Clock, OutboundAnswer, OutboundRequest, Transport } from "#ports/index.ts";
import { Connection, type ConnectionUser, socketsRead, type Target, TurnSends } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { Deadlines, OutboundExchange } from "./exchange.ts";
import { demoScheme, sendInProcess } from "./in-process.ts";
import { partsOf } from "./origin.ts";
import { PushedBody } from "./pushed-body.ts";
import { piecesAtOnce, RequestBody, sizeOf, streamedBody } from "./request-body.ts";
import { requestHead } from "./request-head.ts";
import { type Route, RouteTable, type TransportOptions } from "./route-table.ts";
import {
  clientClosed,
  closedEarly,
  failedRead,
  failedSend,
  neverConnected,
  proxyFailure,
  proxyRefused,
  proxyTimedOut,
  sendFailure,
  staleConnection,
  unsentFailure,
} from "./send-failure.ts";

export function createTransport(options: TransportOptions): Transport {
  const { clock, inProcess = new Map() } = options;
  const deadlines = new Deadlines(clock);
  const sockets = new SocketTransport(deadlines, new RouteTable(options));
  const begin: SocketTransport["begin"] = (request, signal, listener) => {
    if (!request.url.startsWith(demoScheme)) sockets.begin(request, signal, listener);
    else
      sendInProcess(deadlines, inProcess, request, signal).then(
        (answer) => listener.onAnswer(answer),
        (thrown: unknown) => listener.onFailure(asFailure(thrown)),
      );
  };
  return {
    begin,
    send: (request, signal) => new Promise((onAnswer, onFailure) => begin(request, signal, { onAnswer, onFailure })),
  };
}

/** Sends over its own connections, so it knows which bytes were written and when. */
class SocketTransport {
  readonly clock: Clock;
  readonly pool: ConnectionPool;
  readonly sends = new TurnSends();
  readonly #deadlines: Deadlines;
  readonly #routes: RouteTable;

  constructor(deadlines: Deadlines, routes: RouteTable) {
    this.clock = deadlines.clock;
    this.pool = new ConnectionPool(this.clock);
    this.#deadlines = deadlines;
    this.#routes = routes;
  }

  begin(request: OutboundRequest, signal: CallSignal, listener: AnswerListener): void {
    if (signal.aborted) {
      listener.onFailure(clientClosed().with({ arrival: "unsent" }));
      return;
    }
    const nowMs = this.clock.monotonic();
    const exchange = new OutboundExchange(this.#deadlines, signal, request.totalMs, nowMs);
    try {
      const { origin, target } = partsOf(request.url);
      const found = this.#routes.find(origin, request);
      if (found instanceof Promise) void this.#beginLater(found, request, target, exchange, listener);
      else new SocketCall(this, exchange, found, request, target, listener).start(nowMs);
    } catch (thrown) {
      listener.onFailure(unsent(exchange, thrown));
    }
  }

  /** The name has to be resolved first. */
  async #beginLater(
    found: Promise<Route>,
    request: OutboundRequest,
    target: string,
    exchange: OutboundExchange,
    listener: AnswerListener,
  ): Promise<void> {
    try {
      const route = await exchange.race(found);
      // The caller may have left while the name was resolved.
      if (exchange.failure !== null) throw exchange.failure;
      new SocketCall(this, exchange, route, request, target, listener).start(this.clock.monotonic());
    } catch (thrown) {
      listener.onFailure(unsent(exchange, thrown));
    }
  }
}

/** Ends the exchange with a failure before anything was sent. */
function unsent(exchange: OutboundExchange, thrown: unknown): Failure {
  const failure = thrown instanceof Failure ? thrown : (exchange.failure ?? failedSend(thrown));
  exchange.fail(failure);
  return failure.with({ arrival: "unsent" });
}

/** One request and its answer. */
class SocketCall implements ConnectionUser {
  readonly #transport: SocketTransport;
  readonly #exchange: OutboundExchange;
  readonly #route: Route;
  /** null once it was written, to free its memory during a long answer, like the head and the pieces. */
  #request: OutboundRequest | null;
  /** Of a body that is sent at once. */
  #pieces: readonly Uint8Array[];
  readonly #streamed: RequestBody | null;
  #head: readonly string[];
  readonly #listener: AnswerListener;
  /** The head has arrived, and the listener was not called yet. */
  #answer: OutboundAnswer | null = null;
  /** Index of the first address to connect to. */
  readonly #first: number;
  #target: Target;
  #tried = 0;
  #connection: Connection | null = null;
  /** The connection that broke before the answer began. */
  #broken: Connection | null = null;
  #sent = false;
  #sentMs = 0;
  #silentMs = 0;
  #drained: (() => void) | null = null;
  #body: PushedBody | null = null;

  /** `target`: of the request. Throws Failure for an invalid header. */
  constructor(
    transport: SocketTransport,
    exchange: OutboundExchange,
    route: Route,
    request: OutboundRequest,
    target: string,
    listener: AnswerListener,
  ) {
    this.#transport = transport;
    this.#exchange = exchange;
    this.#route = route;
    this.#listener = listener;
    this.#request = request;
    const { body } = request;
    const pieces = piecesAtOnce(body);
    this.#pieces = pieces ?? nothing;
    this.#streamed =
      body === null || pieces !== null ? null : new RequestBody(streamedBody(body), exchange, request.headersMs);
    const whole = body === null ? null : sizeOf(this.#pieces);
    this.#head = requestHead(request, route, target, this.#streamed?.size ?? whole);
    this.#first = route.preferred;
    this.#target = this.#nextTarget();
  }

  start(nowMs: number): void {
    this.#exchange.onFail(this);
    this.#connect(nowMs);
  }

  /** Takes a kept connection, or opens one under the connect timeout. */
  #connect(nowMs: number): void {
    const { pool } = this.#transport;
    const request = this.#unwritten();
    this.#tried++;
    this.#silentMs = nowMs - this.#target.answeredMs;
    const kept = request.ownConnection === true ? null : pool.take(this.#target, nowMs);
    if (kept === null) {
      this.#exchange.begin("connect", request.connectMs, nowMs);
      this.#connection = Connection.open(this.#route, this.#target, this);
    } else {
      kept.use(this);
      this.#connection = kept;
      this.#write(kept, nowMs);
    }
  }

  onReady(connection: Connection): void {
    if (this.#exchange.failure === null) this.#write(connection, this.#transport.clock.monotonic());
  }

  #write(connection: Connection, nowMs: number): void {
    const request = this.#unwritten();
    const pieces = this.#pieces;
    const head = this.#head;
    this.#request = null;
    this.#pieces = nothing;
    this.#head = nothing;
    this.#prefer(0);
    this.#sentMs = nowMs;
    this.#exchange.begin("headers", request.headersMs, nowMs);
    connection.begin(request.method);
    if (this.#streamed !== null) {
      void this.#upload(connection, head, this.#streamed, request.beforeSending);
      return;
    }
    connection.writeWhole(head, pieces, this.#transport.sends, request.beforeSending);
  }

  onDrain(): void {
    const drained = this.#drained;
    this.#drained = null;
    if (drained !== null) drained();
    // For a streamed body this may have been the head; its end sets `#sent`.
    else if (this.#streamed === null) this.#sent = true;
  }

  onHead(head: ResponseHead): void {
    const { status, headers, framing } = head;
    const { way } = this.#route;
    // Only a proxy answers 407; it forwarded nothing.
    if (status === 407 && way !== null && way.connect === null) {
      this.#exchange.fail(proxyRefused(status));
      return;
    }
    this.#target.answeredMs = this.#transport.clock.monotonic();
    this.#streamed?.answered();
    this.#exchange.pause();
    this.#body = new PushedBody(this.#exchange, this, framing.kind === "length" ? framing.bytes : -1);
    this.#answer = { status, headers, body: this.#body };
  }

  onBody(piece: Uint8Array): void {
    this.#body?.push(piece);
  }

  onEnd(): void {
    const connection = this.#connection;
    this.#connection = null;
    if (connection?.release(this.#sent) === true) this.#transport.pool.put(connection);
    this.#abandonUpload();
    this.#body?.finish();
    this.onRead();
  }

  onRead(): void {
    const answer = this.#answer;
    if (answer === null) return;
    this.#answer = null;
    this.#listener.onAnswer(answer);
  }

  onBroken(thrown: unknown): void {
    const connection = this.#connection;
    this.#connection = null;
    this.#abandonUpload();
    if (this.#body !== null) {
      this.#body.breakOff(failedRead(thrown ?? new Error("the connection was closed")));
      this.onRead();
      return;
    }
    this.#broken = connection;
    if (connection !== null && !connection.ready) this.#neverOpened(thrown);
    else this.#exchange.fail(this.#unanswered(thrown, connection));
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  /** Tries another address only while nothing was sent, so no request is repeated. */
  #neverOpened(thrown: unknown): void {
    const exchange = this.#exchange;
    const route = this.#route;
    if (neverConnected(thrown) && this.#tried < route.targets.length) {
      this.#target = this.#nextTarget();
      this.#connect(this.#transport.clock.monotonic());
      return;
    }
    if (route.way !== null && (neverConnected(thrown) || this.#broken?.asksProxy === true)) {
      exchange.fail(thrown instanceof Failure ? thrown : proxyFailure(proxyFault(thrown), thrown));
      return;
    }
    const failure = thrown === undefined || thrown === null ? null : failedSend(thrown);
    exchange.fail(
      failure?.arrival === "unsent"
        ? failure
        : unsentFailure("The upstream could not be reached.", "unreachable", thrown),
    );
  }

  #unanswered(thrown: unknown, connection: Connection | null): Failure {
    if (thrown instanceof Failure) return thrown;
    const { clock, pool } = this.#transport;
    const cause = thrown ?? new Error("the connection was closed");
    const reset = thrown === undefined || thrown === null || closedEarly(thrown);
    const kept = connection !== null && connection.uses > 1 && connection.untouched;
    const soon = clock.monotonic() - this.#sentMs <= bounds.staleEndMs;
    // Other kept connections may be as old.
    if (kept) pool.drop(this.#target);
    if (connection?.wrote === false) return staleConnection(cause).with({ arrival: "unsent" });
    if (thrown instanceof MalformedMessage) return malformed(thrown);
    if (kept && reset && soon && this.#silentMs >= bounds.staleSilenceMs) return staleConnection(cause);
    return sendFailure("upstream_unreachable", "The upstream could not be reached.", cause, "unreachable");
  }

  /** On a timeout, or when the caller leaves, closes the connection at once. */
  onFailure(cause: Failure): void {
    const failure = this.#failureToReport(cause);
    const connection = this.#connection ?? this.#broken;
    // Before it was open, only the proxy got bytes.
    const wrote = connection?.ready === true && connection.wrote;
    if (this.#connection?.ready === false) this.#prefer(1);
    this.#connection?.destroy();
    this.#connection = null;
    this.#abandonUpload();
    if (this.#body !== null && this.#answer === null) this.#body.failed(failure);
    else {
      this.#answer = null;
      this.#listener.onFailure(wrote ? failure : failure.with({ arrival: "unsent" }));
    }
  }

  /** A timeout while waiting for the proxy names the proxy. */
  #failureToReport(failure: Failure): Failure {
    if (failure.code !== "upstream_timeout" || this.#connection?.asksProxy !== true) return failure;
    return proxyTimedOut(this.#unwritten().connectMs);
  }

  async #upload(
    connection: Connection,
    head: readonly string[],
    body: RequestBody,
    check: OutboundRequest["beforeSending"],
  ): Promise<void> {
    let turnBytes = 0;
    try {
      await socketsRead();
      if (this.#connection !== connection || !connection.passes(check)) return;
      connection.write(Buffer.from(head.join(""), "latin1"));
      for (let piece = await body.next(); piece !== null; piece = await body.next()) {
        if (this.#connection !== connection) return;
        turnBytes += piece.length;
        if (!connection.write(piece)) {
          await new Promise<void>((resolve) => {
            this.#drained = resolve;
          });
          turnBytes = 0;
        } else if (turnBytes >= bounds.sendTurnBytes) {
          // An upstream on another core can take sixty megabytes without a pause.
          await new Promise(setImmediate);
          turnBytes = 0;
        }
      }
      this.#sent = true;
    } catch {
      // RequestBody ended the exchange; if the answer had begun, the connection is just not reused.
    }
  }

  #abandonUpload(): void {
    const drained = this.#drained;
    this.#drained = null;
    drained?.();
    if (!this.#sent) void this.#streamed?.cancel().catch(() => {});
  }

  #unwritten(): OutboundRequest {
    if (this.#request === null) throw new Error("a request is written once");
    return this.#request;
  }

  /** Makes the target, or the one `places` after it, the first to try from now on. */
  #prefer(places: number): void {
    const { targets } = this.#route;
    this.#route.preferred = (targets.indexOf(this.#target) + places) % targets.length;
  }

  #nextTarget(): Target {
    const { targets } = this.#route;
    const target = targets[(this.#first + this.#tried) % targets.length];
    if (target === undefined) throw new Error("a route without targets");
    return target;
  }
}

const nothing: readonly never[] = [];

function proxyFault(thrown: unknown): string {
  if (neverConnected(thrown)) return "could not be reached";
  if (thrown instanceof MalformedMessage) return "did not answer in HTTP";
  return "closed the connection before it had opened a tunnel to the upstream";
}

function malformed(cause: MalformedMessage): Failure {
  return sendFailure("upstream_error", "The upstream's answer was not valid HTTP.", cause);
}
