import { connect, createServer, type Socket } from "node:net";

/** A way to a server that a test may interrupt without the server's help. */
export interface InterruptedWay extends AsyncDisposable {
  readonly port: number;
  /** Nothing that is sent arrives from now on, and new connections get no answer. */
  interrupt(): void;
  /** What was held arrives, and everything that follows. */
  restore(): void;
}

/** Passes bytes on in both directions, until it is interrupted: then it holds them, as a server that stands still does. */
export async function wayTo(host: string, port: number): Promise<InterruptedWay> {
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
