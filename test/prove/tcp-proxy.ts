import { connect, createServer, type Socket } from "node:net";

/** What becomes of the bytes on one way to a server. */
export type Weather =
  | { readonly kind: "fair" }
  /** Nothing arrives in either direction; new connections get no answer. What was held arrives later, as TCP sends it again. */
  | { readonly kind: "cut off" }
  /** The same for what the server sends. */
  | { readonly kind: "answers lost" }
  /** Everything arrives this much later, in order. */
  | { readonly kind: "slow"; readonly ms: number };

/** One direction of one connection. */
class Pipe {
  readonly #onto: Socket;
  readonly #weather: () => Weather;
  readonly #isAnswers: boolean;
  #waiting: { readonly bytes: Uint8Array | string; readonly atMs: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(from: Socket, onto: Socket, isAnswers: boolean, weather: () => Weather) {
    this.#onto = onto;
    this.#weather = weather;
    this.#isAnswers = isAnswers;
    from.on("data", (bytes) => {
      this.#waiting.push({ bytes, atMs: performance.now() });
      this.flow();
    });
    from.on("close", () => {
      if (this.#timer !== null) clearTimeout(this.#timer);
    });
  }

  /** Sends on what is due. */
  flow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const weather = this.#weather();
    if (weather.kind === "cut off" || (weather.kind === "answers lost" && this.#isAnswers)) return;
    const delayMs = weather.kind === "slow" ? weather.ms : 0;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const leftMs = first.atMs + delayMs - performance.now();
      if (leftMs > 0) {
        this.#timer = setTimeout(() => this.flow(), leftMs);
        return;
      }
      this.#waiting.shift();
      this.#onto.write(first.bytes);
    }
  }
}

/** The way of one process to one server. */
class TcpProxy {
  readonly #sockets = new Set<Socket>();
  readonly #pipes = new Set<Pipe>();
  /** Connections whose other side has ended while they were cut off. */
  readonly #ended = new Set<Socket>();
  readonly #server;
  #weather: Weather = { kind: "fair" };

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      const far = connect({ host, port });
      for (const [from, onto] of [
        [near, far],
        [far, near],
      ] as const) {
        const pipe = new Pipe(from, onto, from === far, () => this.#weather);
        this.#sockets.add(from);
        this.#pipes.add(pipe);
        from.setNoDelay(true);
        // A close follows, and that ends the other side.
        from.on("error", () => undefined);
        from.on("close", () => {
          this.#sockets.delete(from);
          this.#pipes.delete(pipe);
          // An end travels as bytes do: it does not arrive either.
          if (this.#weather.kind !== "cut off") onto.destroy();
          else this.#ended.add(onto);
        });
      }
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  set(weather: Weather): void {
    this.#weather = weather;
    for (const pipe of this.#pipes) pipe.flow();
    if (weather.kind === "cut off") return;
    for (const socket of this.#ended) socket.destroy();
    this.#ended.clear();
  }

  /** Every connection ends with RST. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }
}

/**
 * `bun test/prove/tcp-proxy.ts`: in a process of its own, so that a busy prover delays nobody. Prints the port of its control:
 * POST /ways {"host", "port"} answers {"port"}; PUT /ways/PORT takes a Weather, DELETE /ways/PORT resets its connections.
 */
if (import.meta.main) {
  const proxies = new Map<number, TcpProxy>();
  const control = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const proxy = proxies.get(Number(new URL(request.url).pathname.split("/")[2]));
      if (request.method === "POST") {
        const { host, port } = (await request.json()) as { readonly host: string; readonly port: number };
        const added = new TcpProxy(host, port);
        const own = await added.listen();
        proxies.set(own, added);
        return Response.json({ port: own });
      }
      if (proxy === undefined) return new Response(null, { status: 404 });
      if (request.method === "PUT") proxy.set((await request.json()) as Weather);
      else proxy.reset();
      return Response.json({});
    },
  });
  process.on("SIGTERM", () => process.exit(0));
  console.log(control.port);
}
