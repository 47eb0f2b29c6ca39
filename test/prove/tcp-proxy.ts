import { connect, createServer, type Socket } from "node:net";

/** The treatment of the bytes between a replica and a server. */
export type NetworkState =
  | { readonly kind: "normal" }
  /** Nothing arrives in either direction, and new connections get no answer. Held bytes arrive later, like TCP retransmissions. */
  | { readonly kind: "cut off" }
  /** Bytes from the server do not arrive. */
  | { readonly kind: "answers lost" }
  /** Everything arrives in order, this much later. */
  | { readonly kind: "slow"; readonly ms: number };

/** One direction of one connection. */
class Pipe {
  readonly #onto: Socket;
  readonly #state: () => NetworkState;
  readonly #isAnswers: boolean;
  #waiting: { readonly bytes: Uint8Array | string; readonly atMs: number }[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(from: Socket, onto: Socket, isAnswers: boolean, state: () => NetworkState) {
    this.#onto = onto;
    this.#state = state;
    this.#isAnswers = isAnswers;
    from.on("data", (bytes) => {
      this.#waiting.push({ bytes, atMs: performance.now() });
      this.flow();
    });
    from.on("close", () => {
      if (this.#timer !== null) clearTimeout(this.#timer);
    });
  }

  /** Forwards the bytes that are due. */
  flow(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const state = this.#state();
    if (state.kind === "cut off" || (state.kind === "answers lost" && this.#isAnswers)) return;
    const delayMs = state.kind === "slow" ? state.ms : 0;
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

/** The connections of one process to one server. */
class TcpProxy {
  readonly #sockets = new Set<Socket>();
  readonly #pipes = new Set<Pipe>();
  /** Sockets to destroy after a cut-off, because their other side was closed meanwhile. */
  readonly #ended = new Set<Socket>();
  readonly #server;
  #state: NetworkState = { kind: "normal" };

  constructor(host: string, port: number) {
    this.#server = createServer((near) => {
      const far = connect({ host, port });
      for (const [from, onto] of [
        [near, far],
        [far, near],
      ] as const) {
        const pipe = new Pipe(from, onto, from === far, () => this.#state);
        this.#sockets.add(from);
        this.#pipes.add(pipe);
        from.setNoDelay(true);
        // A close event follows and destroys the other side.
        from.on("error", () => undefined);
        from.on("close", () => {
          this.#sockets.delete(from);
          this.#pipes.delete(pipe);
          // While cut off, the end of a connection must not arrive either.
          if (this.#state.kind !== "cut off") onto.destroy();
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

  set(state: NetworkState): void {
    this.#state = state;
    for (const pipe of this.#pipes) pipe.flow();
    if (state.kind === "cut off") return;
    for (const socket of this.#ended) socket.destroy();
    this.#ended.clear();
  }

  /** Ends every connection with RST. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }
}

/**
 * `bun test/prove/tcp-proxy.ts` runs in its own process, so that a busy test does not delay connections. It prints the port of its
 * control API: POST /proxies {"host", "port"} answers {"port"}; PUT /proxies/PORT sets the network state; DELETE /proxies/PORT
 * resets the connections.
 */
if (import.meta.main) {
  const proxies = new Map<number, TcpProxy>();
  const control = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const proxy = proxies.get(Number(new URL(request.url).pathname.split("/")[2]));
      if (request.method === "POST") {
        const { host, port: serverPort } = (await request.json()) as { readonly host: string; readonly port: number };
        const added = new TcpProxy(host, serverPort);
        const port = await added.listen();
        proxies.set(port, added);
        return Response.json({ port });
      }
      if (proxy === undefined) return new Response(null, { status: 404 });
      if (request.method === "PUT") proxy.set((await request.json()) as NetworkState);
      else proxy.reset();
      return Response.json({});
    },
  });
  process.on("SIGTERM", () => process.exit(0));
  console.log(control.port);
}
