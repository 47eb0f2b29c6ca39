import { connect, createServer, type Socket } from "node:net";

/** A proxy to a server that a test can interrupt. */
export interface InterruptibleProxy extends AsyncDisposable {
  readonly port: number;
  /** From now on, holds all bytes and does not answer new connections. */
  interrupt(): void;
  /** Delivers the held bytes and everything after them. */
  restore(): void;
}

/** Forwards bytes in both directions. While interrupted it holds them, like a server that hangs. */
export async function wayTo(host: string, port: number): Promise<InterruptibleProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect({ host, port });
    for (const [from, onto] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      if (interrupted) from.pause();
      from.on("data", (bytes) => onto.write(bytes));
      from.on("error", () => undefined);
      from.on("close", () => {
        sockets.delete(from);
        onto.destroy();
      });
    }
  });
  let interrupted = false;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    interrupt() {
      interrupted = true;
      for (const socket of sockets) socket.pause();
    },
    restore() {
      interrupted = false;
      for (const socket of sockets) socket.resume();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
