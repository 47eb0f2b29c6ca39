import {
  type CallerRequest,
  HttpServer,
  type HttpServerOptions,
  type RefusedReason,
  ServerAnswer,
} from "#http-server/index.ts";
import { systemClock } from "#system/index.ts";
import { callerConnections, callerMemory } from "../caller-memory.ts";
import { openSocket } from "../edge/raw-socket.ts";

/** A request as the server read it. */
export interface EchoedRequest {
  readonly start: string;
  readonly body: string;
}

export interface EchoServer {
  readonly port: number;
  readonly server: HttpServer;
  /** All requests with complete bodies, in order. */
  readonly requests: EchoedRequest[];
  /** The Host header of each. */
  readonly hosts: (string | null)[];
  /** Sends bytes on one connection and ends it. Resolves to everything received until the other side closed. */
  exchange(...pieces: string[]): Promise<string>;
  stop(): void;
}

/** Replies with the promise's result. */
export function answeredBy(answer: (request: CallerRequest) => Promise<ServerAnswer>): HttpServerOptions["answer"] {
  return (request, reply) =>
    void answer(request).then(
      (answered) => reply.send(answered),
      (thrown: unknown) => reply.fail(thrown),
    );
}

/** Our server, answering every request with what it read. */
export function startEcho(options: Partial<HttpServerOptions> = {}): EchoServer {
  const requests: EchoedRequest[] = [];
  const hosts: (string | null)[] = [];
  const server = new HttpServer({
    memory: callerMemory(),
    connections: callerConnections(),
    hostname: "127.0.0.1",
    port: 0,
    shared: false,
    clock: systemClock,
    idleMs: 60_000,
    answer: answeredBy((request) => {
      const host = request.headers.get("host");
      return echo(request, request.target, (echoed) => {
        requests.push(echoed);
        hosts.push(host);
      });
    }),
    refuse: (reason) => new ServerAnswer(statuses[reason] ?? 400, { "x-reason": reason }, null),
    leaving: () => false,
    ...options,
  });
  return {
    port: server.port,
    server,
    requests,
    hosts,
    async exchange(...pieces) {
      const socket = openSocket(server.port);
      for (const piece of pieces) socket.write(piece);
      socket.finish();
      return await socket.closed;
    },
    stop: () => server.stop(true),
  };
}

async function echo(
  request: CallerRequest,
  target: string,
  record: (echoed: EchoedRequest) => void,
): Promise<ServerAnswer> {
  const bytes = await request.bytes().catch(() => null);
  if (bytes === null) return new ServerAnswer(400, {}, null);
  const body = Buffer.from(bytes).toString("latin1");
  const echoed = { start: `${request.method} ${target}`, body };
  record(echoed);
  return new ServerAnswer(200, { "content-type": "application/json" }, Buffer.from(JSON.stringify(echoed)));
}

const statuses: Partial<Record<RefusedReason, number>> = { head_too_large: 431, full: 503 };
